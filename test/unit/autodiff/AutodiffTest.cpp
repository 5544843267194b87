// The sweep: what is built and what is not, sums of gradients, ties, and missing rules.
#include "passes/autodiff/Autodiff.h"
#include "compiler/interpret/Interpret.h"
#include "dialects/graph/Graph.h"
#include "test/unit/graph_text/GraphText.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::test;
using namespace mlir;

// Makes the function return the gradients of its (only) result by its first `count` arguments.
static SmallVector<Value> differentiate(GraphText &text, unsigned count) {
  func::FuncOp function = text.function();
  Operation *end = function.getBody().front().getTerminator();
  OpBuilder b(end);
  SmallVector<Value> wrt(function.getArguments().take_front(count)), gradients;
  REQUIRE(succeeded(autodiff::buildGradients(b, end->getOperand(0), wrt, gradients)));
  SmallVector<Value> existing =
      llvm::to_vector(llvm::make_filter_range(gradients, [](Value v) { return bool(v); }));
  end->setOperands(existing);
  function.setFunctionType(FunctionType::get(function.getContext(), function.getArgumentTypes(),
                                             ValueRange(existing).getTypes()));
  return gradients;
}

template <typename Op> static int64_t countOf(GraphText &text) {
  int64_t count = 0;
  text.module().walk([&](Op) { ++count; });
  return count;
}

static std::vector<double> gradientAt(GraphText &text, const std::vector<Tensor> &args) {
  differentiate(text, 1);
  auto results = interpret::run(text.function(), args);
  REQUIRE(results.isOk());
  return (*results)[0].values;
}

static Tensor vector(std::vector<double> values) {
  Tensor tensor(ElementType::F64, {static_cast<int64_t>(values.size())});
  tensor.values = std::move(values);
  return tensor;
}

TEST_CASE("a value that is used twice gets the sum of both gradients") {
  GraphText text(R"(func.func @f(%x: tensor<2xf64>) -> tensor<f64> {
    %a = graph.mul %x, %x : tensor<2xf64>
    %b = graph.add %a, %x : tensor<2xf64>
    %y = graph.reduce sum %b over [0] : tensor<2xf64> -> tensor<f64>
    return %y : tensor<f64>
  })");
  CHECK(gradientAt(text, {vector({3, -1})}) == std::vector<double>{7, -1});
}

TEST_CASE("an argument that the target does not depend on has no gradient") {
  GraphText text(R"(func.func @f(%x: tensor<f64>, %z: tensor<f64>) -> tensor<f64> {
    %y = graph.exp %x : tensor<f64>
    return %y : tensor<f64>
  })");
  SmallVector<Value> gradients = differentiate(text, 2);
  CHECK(gradients[0]);
  CHECK_FALSE(gradients[1]);
}

TEST_CASE("nothing is built for values that no wanted argument depends on") {
  GraphText text(R"(func.func @f(%w: tensor<3x4xf64>, %x: tensor<2x3xf64>) -> tensor<f64> {
    %a = graph.dot_general %x, %w batch [] x [] contract [1] x [0]
      : tensor<2x3xf64>, tensor<3x4xf64> -> tensor<2x4xf64>
    %y = graph.reduce sum %a over [0, 1] : tensor<2x4xf64> -> tensor<f64>
    return %y : tensor<f64>
  })");
  differentiate(text, 1);
  CHECK(countOf<graph::DotGeneralOp>(text) == 2); // the product and its gradient by w
}

TEST_CASE("gradients of matrix products need no transpose") {
  GraphText text(
      R"(func.func @f(%x: tensor<2x3x4xf64>, %w: tensor<4x5xf64>, %t: tensor<6x5xf64>) -> tensor<f64> {
    %a = graph.dot_general %x, %w batch [] x [] contract [2] x [0]
      : tensor<2x3x4xf64>, tensor<4x5xf64> -> tensor<2x3x5xf64>
    %b = graph.dot_general %a, %t batch [] x [] contract [2] x [1]
      : tensor<2x3x5xf64>, tensor<6x5xf64> -> tensor<2x3x6xf64>
    %c = graph.dot_general %b, %b batch [0] x [0] contract [2] x [2]
      : tensor<2x3x6xf64>, tensor<2x3x6xf64> -> tensor<2x3x3xf64>
    %y = graph.reduce sum %c over [0, 1, 2] : tensor<2x3x3xf64> -> tensor<f64>
    return %y : tensor<f64>
  })");
  differentiate(text, 3);
  CHECK(countOf<graph::DotGeneralOp>(text) == 9);
  CHECK(countOf<graph::TransposeOp>(text) == 0);
}

static const char *kThreeSlices = R"(func.func @f(%x: tensor<2x6xf64>) -> tensor<f64> {
    %q = graph.slice %x dim 1 from 0 step 1 : tensor<2x6xf64> -> tensor<2x2xf64>
    %k = graph.slice %x dim 1 from 2 step 1 : tensor<2x6xf64> -> tensor<2x2xf64>
    %v = graph.slice %x dim 1 from 4 step 1 : tensor<2x6xf64> -> tensor<2x2xf64>
    %a = graph.mul %q, %k : tensor<2x2xf64>
    %b = graph.mul %a, %v : tensor<2x2xf64>
    %y = graph.reduce sum %b over [0, 1] : tensor<2x2xf64> -> tensor<f64>
    return %y : tensor<f64>
  })";

TEST_CASE("the gradients of slices that make up a tensor are concatenated") {
  GraphText text(kThreeSlices);
  Tensor x(ElementType::F64, {2, 6});
  x.values = {1, 2, 3, 4, 5, 6, 1, 1, 2, 2, 3, 3};
  CHECK(gradientAt(text, {x}) == std::vector<double>{15, 24, 5, 12, 3, 8, 6, 6, 3, 3, 2, 2});
  CHECK(countOf<graph::PadOp>(text) == 0);
  CHECK(countOf<graph::ConcatOp>(text) == 1);
}

TEST_CASE("equal maxima share the gradient") {
  GraphText text(R"(func.func @f(%x: tensor<4xf64>) -> tensor<f64> {
    %y = graph.reduce max %x over [0] : tensor<4xf64> -> tensor<f64>
    return %y : tensor<f64>
  })");
  CHECK(gradientAt(text, {vector({3, 1, 3, 2})}) == std::vector<double>{0.5, 0, 0.5, 0});
}

TEST_CASE("the gradient of a product is right where factors are zero") {
  auto gradient = [](std::vector<double> x) {
    GraphText text(R"(func.func @f(%x: tensor<3xf64>) -> tensor<f64> {
      %y = graph.reduce prod %x over [0] : tensor<3xf64> -> tensor<f64>
      return %y : tensor<f64>
    })");
    return gradientAt(text, {vector(std::move(x))});
  };
  CHECK(gradient({2, 3, 5}) == std::vector<double>{15, 10, 6});
  CHECK(gradient({2, 0, 5}) == std::vector<double>{0, 10, 0});
  CHECK(gradient({0, 0, 5}) == std::vector<double>{0, 0, 0});
}

TEST_CASE("no gradient passes a stop") {
  GraphText text(R"(func.func @f(%x: tensor<2xf64>) -> tensor<f64> {
    %s = graph.stop_gradient %x : tensor<2xf64>
    %a = graph.mul %x, %s : tensor<2xf64>
    %y = graph.reduce sum %a over [0] : tensor<2xf64> -> tensor<f64>
    return %y : tensor<f64>
  })");
  CHECK(gradientAt(text, {vector({3, -1})}) == std::vector<double>{3, -1});
  GraphText all(R"(func.func @f(%x: tensor<f64>) -> tensor<f64> {
    %s = graph.stop_gradient %x : tensor<f64>
    return %s : tensor<f64>
  })");
  CHECK_FALSE(differentiate(all, 1)[0]);
}

TEST_CASE("no gradient goes through integers and comparisons") {
  GraphText text(R"(func.func @f(%x: tensor<f64>) -> tensor<f64> {
    %zero = graph.constant dense<0.0> : tensor<f64>
    %p = graph.compare gt %x, %zero : tensor<f64>
    %n = graph.cast %x : tensor<f64> -> tensor<i64>
    %a = graph.cast %n : tensor<i64> -> tensor<f64>
    %b = graph.cast %p : tensor<i1> -> tensor<f64>
    %y = graph.mul %a, %b : tensor<f64>
    return %y : tensor<f64>
  })");
  CHECK_FALSE(differentiate(text, 1)[0]);
}

TEST_CASE("an op without a rule is named at its place") {
  GraphText text(R"(func.func @f(%x: tensor<1x1x3xf64>) -> tensor<f64> {
    %a = graph.pool_grad average %x, %x {kernel = array<i64: 1>, strides = array<i64: 1>, dilations = array<i64: 1>,
      pads_low = array<i64: 0>, pads_high = array<i64: 0>} : tensor<1x1x3xf64>, tensor<1x1x3xf64> -> tensor<1x1x3xf64>
    %y = graph.reduce sum %a over [0, 1, 2] : tensor<1x1x3xf64> -> tensor<f64>
    return %y : tensor<f64>
  })");
  Operation *end = text.function().getBody().front().getTerminator();
  OpBuilder b(end);
  SmallVector<Value> gradients;
  CHECK(failed(autodiff::buildGradients(b, end->getOperand(0), {text.function().getArgument(0)},
                                        gradients)));
  CHECK_THAT(text.diagnostics, Catch::Contains("'graph.pool_grad' has no gradient"));
}
