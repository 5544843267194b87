// Factors of the values of a group, and which ops can be part of one.
#include "compiler/analysis/IterationSpace.h"

#include "test/unit/graph_text/GraphText.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::analysis;
using Factors = llvm::SmallVector<int>;

namespace {

// The ops of a function and their common space.
struct Space : test::GraphText {
  llvm::SmallVector<mlir::Operation *> ops;
  IterationSpace space;

  explicit Space(const std::string &text) : GraphText(text) {
    for (mlir::Operation &op : function().getBody().front().without_terminator())
      ops.push_back(&op);
    space = iterationSpaceOf(ops);
  }

  mlir::Value argument(unsigned i) { return function().getArgument(i); }
  mlir::Value result(size_t op) { return ops[op]->getResult(0); }
};

// Whether the last op of the body, on x: 4x3 f32, can be part of a group.
bool groups(const std::string &body) {
  test::GraphText text("func.func @f(%x: tensor<4x3xf32>, %i: tensor<2xi64>) {" + body +
                       " return }");
  mlir::Block &block = text.function().getBody().front();
  return isGroupable(&*std::prev(block.without_terminator().end()));
}

} // namespace

TEST_CASE("dims that an op makes equal have one factor") {
  Space s(R"(func.func @f(%x: tensor<4x3xf32>, %y: tensor<3xf32>) {
    %0 = graph.broadcast %y to [1] : tensor<3xf32> -> tensor<4x3xf32>
    %1 = graph.add %x, %0 : tensor<4x3xf32>
    %2 = graph.transpose %1 by [1, 0] : tensor<4x3xf32> -> tensor<3x4xf32>
    return
  })");
  CHECK(s.space.sizes.size() == 2);
  int rows = s.space.factorOf(s.argument(0), 0), columns = s.space.factorOf(s.argument(0), 1);
  CHECK(rows != columns);
  CHECK(s.space.sizes[rows] == Polynomial(4));
  CHECK(s.space.factorsOf(s.argument(1)) == Factors{columns});
  CHECK(s.space.factorOf(s.result(2), 0) == columns);
  CHECK(s.space.factorOf(s.result(2), 1) == rows);
  CHECK(s.space.isProper());
}

TEST_CASE("a matrix and its transpose have one factor for two dims") {
  Space s(R"(func.func @f(%x: tensor<4x4xf32>) {
    %0 = graph.transpose %x by [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %1 = graph.add %x, %0 : tensor<4x4xf32>
    return
  })");
  CHECK_FALSE(s.space.isProper());
}

TEST_CASE("dims of size one have no factor, and neither have splats") {
  Space s(R"(func.func @f(%x: tensor<4x1xf32>) {
    %0 = graph.constant dense<2.0> : tensor<f32>
    %1 = graph.broadcast %0 to [] : tensor<f32> -> tensor<4x1xf32>
    %2 = graph.mul %x, %1 : tensor<4x1xf32>
    %3 = graph.reshape %2 : tensor<4x1xf32> -> tensor<1x4xf32>
    return
  })");
  CHECK(s.space.sizes.size() == 1);
  CHECK(s.space.factorOf(s.argument(0), 1) == -1);
  CHECK(s.space.factorsOf(s.result(1)).empty());
  CHECK(s.space.factorOf(s.result(3), 1) == s.space.factorOf(s.argument(0), 0));
}

TEST_CASE("a reduction keeps the factors that it reduces") {
  Space s(R"(func.func @f(%x: tensor<4x3xf32>) {
    %0 = graph.reduce sum %x over [1] : tensor<4x3xf32> -> tensor<4xf32>
    return
  })");
  int columns = s.space.factorOf(s.argument(0), 1);
  CHECK(s.space.reduced.lookup(s.ops[0]) == Factors{columns});
  CHECK(s.space.factorsOf(s.result(0)) == Factors{s.space.factorOf(s.argument(0), 0)});
}

TEST_CASE("symbolic dims have factors of their size") {
  Space s(R"(func.func @f(%x: tensor<?x3xf32, #graph.dims<["n", ""]>>) {
    %0 = graph.exp %x : tensor<?x3xf32, #graph.dims<["n", ""]>>
    return
  })");
  CHECK(s.space.sizes[s.space.factorOf(s.result(0), 0)] == Polynomial::symbol("n"));
}

TEST_CASE("ops that run over one loop nest can be part of a group") {
  CHECK(groups("%0 = graph.exp %x : tensor<4x3xf32>"));
  CHECK(groups("%0 = graph.reduce max %x over [0] : tensor<4x3xf32> -> tensor<3xf32>"));
  CHECK(groups("%0 = graph.iota dim 0 : tensor<5xi64>"));
  CHECK(groups("%0 = graph.transpose %x by [1, 0] : tensor<4x3xf32> -> tensor<3x4xf32>"));
  CHECK(groups("%0 = graph.reshape %x : tensor<4x3xf32> -> tensor<4x1x3xf32>"));
  CHECK(groups("%0 = graph.constant dense<2.0> : tensor<5xf32>"));
}

TEST_CASE("ops that change the order of elements cannot be part of a group") {
  CHECK_FALSE(groups("%0 = graph.reshape %x : tensor<4x3xf32> -> tensor<12xf32>"));
  CHECK_FALSE(groups("%0 = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>"));
  CHECK_FALSE(groups("%0 = graph.gather %x at %i dim 0 : tensor<4x3xf32>, tensor<2xi64> -> "
                     "tensor<2x3xf32>"));
  // A kernel computes splats as doubles.
  CHECK(groups("%0 = graph.constant dense<9007199254740992> : tensor<5xi64>"));
  CHECK_FALSE(groups("%0 = graph.constant dense<9007199254740993> : tensor<5xi64>"));
}
