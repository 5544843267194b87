// The instructions of a bufferized step, and the buffers that results are written to.
#include "dialects/graph/Step.h"
#include "dialects/program/Program.h"
#include "passes/bufferize/Bufferize.h"
#include "passes/fuse/Fuse.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace cleave;

namespace {

struct Bufferized {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;

  explicit Bufferized(const std::string &step) {
    context.loadDialect<graph::GraphDialect, program::ProgramDialect, func::FuncDialect>();
    module = parseSourceString<ModuleOp>(step, &context);
    REQUIRE(module);
    fuse::formGroups(graph::stepOf(*module));
    REQUIRE(succeeded(bufferize::bufferize(*module)));
    REQUIRE(succeeded(verify(*module)));
  }

  template <typename Op> int count() {
    int count = 0;
    module->walk([&](Op) { ++count; });
    return count;
  }
};

} // namespace

TEST_CASE("a state that becomes another view of itself is copied twice, one in place not at all") {
  auto copies = [](const std::string &op) {
    Bufferized result(R"(func.func @step(
        %q: tensor<3x3xf32> {graph.name = "q", graph.role = "state", graph.source = {fill = 1.0 : f64}})
        -> (tensor<3x3xf32> {graph.name = "q", graph.role = "state", graph.alias = 0 : i64}) {
      %0 = )" + op + R"( tensor<3x3xf32>
      return %0 : tensor<3x3xf32>
    })");
    return result.count<program::CopyOp>() + result.count<program::LaunchOp>();
  };
  CHECK(copies("graph.reverse %q dim 1 :") == 2);
  CHECK(copies("graph.transpose %q by [1, 0] : tensor<3x3xf32> ->") == 2);
  CHECK(copies("graph.transpose %q by [0, 1] : tensor<3x3xf32> ->") == 0);
}

TEST_CASE("heads are split and joined by strides: attention copies nothing") {
  Bufferized result(R"(func.func @step(
      %x: tensor<2x4x24xf32> {graph.name = "x", graph.role = "input"},
      %w: tensor<8x8xf32> {graph.name = "w", graph.role = "constant"})
      -> (tensor<2x4x8xf32> {graph.name = "y", graph.role = "output"}) {
    %q0 = graph.slice %x dim 2 from 0 step 1 : tensor<2x4x24xf32> -> tensor<2x4x8xf32>
    %q1 = graph.reshape %q0 : tensor<2x4x8xf32> -> tensor<2x4x2x4xf32>
    %q = graph.transpose %q1 by [0, 2, 1, 3] : tensor<2x4x2x4xf32> -> tensor<2x2x4x4xf32>
    %k0 = graph.slice %x dim 2 from 8 step 1 : tensor<2x4x24xf32> -> tensor<2x4x8xf32>
    %k1 = graph.reshape %k0 : tensor<2x4x8xf32> -> tensor<2x4x2x4xf32>
    %k = graph.transpose %k1 by [0, 2, 1, 3] : tensor<2x4x2x4xf32> -> tensor<2x2x4x4xf32>
    %s = graph.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3]
      : tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32> -> tensor<2x2x4x4xf32>
    %o = graph.dot_general %s, %k batch [0, 1] x [0, 1] contract [3] x [2]
      : tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32> -> tensor<2x2x4x4xf32>
    %t = graph.transpose %o by [0, 2, 1, 3] : tensor<2x2x4x4xf32> -> tensor<2x4x2x4xf32>
    %j = graph.reshape %t : tensor<2x4x2x4xf32> -> tensor<2x4x8xf32>
    %y = graph.dot_general %j, %w batch [] x [] contract [2] x [0]
      : tensor<2x4x8xf32>, tensor<8x8xf32> -> tensor<2x4x8xf32>
    return %y : tensor<2x4x8xf32>
  })");
  CHECK(result.count<program::MatmulOp>() == 3);
  CHECK(result.count<program::LaunchOp>() == 0);
}

TEST_CASE("a value that is concatenated twice is copied to both places") {
  Bufferized result(R"(func.func @step(
      %x: tensor<2x3xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<4x4xf32> {graph.name = "y", graph.role = "output"}) {
    %a = graph.slice %x dim 1 from 0 step 1 : tensor<2x3xf32> -> tensor<2x1xf32>
    %b = graph.concat %x, %a dim 1 : tensor<2x3xf32>, tensor<2x1xf32> -> tensor<2x4xf32>
    %y = graph.concat %b, %b dim 0 : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  })");
  CHECK(result.count<program::LaunchOp>() + result.count<program::CopyOp>() >= 4);
}

TEST_CASE("a product over dims that lie apart, or in another order, copies its operands together") {
  Bufferized result(R"(func.func @step(
      %x: tensor<2x3x4xf32> {graph.name = "x", graph.role = "input"},
      %w: tensor<4x5x2xf32> {graph.name = "w", graph.role = "constant"})
      -> (tensor<3x5xf32> {graph.name = "y", graph.role = "output"}) {
    %y = graph.dot_general %x, %w batch [] x [] contract [0, 2] x [2, 0]
      : tensor<2x3x4xf32>, tensor<4x5x2xf32> -> tensor<3x5xf32>
    return %y : tensor<3x5xf32>
  })");
  CHECK(result.count<program::MatmulOp>() == 1);
}

TEST_CASE("a reversed operand of a product is copied, whichever dim runs backwards") {
  Bufferized result(R"(func.func @step(
      %x: tensor<2x3x4xf32> {graph.name = "x", graph.role = "input"},
      %w: tensor<2x4x5xf32> {graph.name = "w", graph.role = "constant"})
      -> (tensor<2x3x5xf32> {graph.name = "y", graph.role = "output"}) {
    %r = graph.reverse %x dim 0 : tensor<2x3x4xf32>
    %y = graph.dot_general %r, %w batch [0] x [0] contract [2] x [1]
      : tensor<2x3x4xf32>, tensor<2x4x5xf32> -> tensor<2x3x5xf32>
    return %y : tensor<2x3x5xf32>
  })");
  CHECK(result.count<program::MatmulOp>() == 1);
  result.module->walk([](program::MatmulOp op) {
    for (int64_t stride : op.getLhsView().getStrides())
      CHECK(stride >= 0);
  });
}

TEST_CASE("a parameter is updated in place") {
  Bufferized result(R"(func.func @step(
      %p: tensor<8xf32> {graph.name = "p", graph.role = "parameter"},
      %g: tensor<8xf32> {graph.name = "g", graph.role = "input"})
      -> (tensor<8xf32> {graph.name = "p", graph.role = "parameter", graph.alias = 0 : i64}) {
    %q = graph.sub %p, %g : tensor<8xf32>
    return %q : tensor<8xf32>
  })");
  CHECK(result.count<program::LaunchOp>() == 1);
  CHECK(result.count<program::CopyOp>() == 0);
  CHECK(result.count<program::BufferOp>() == 2);
}

TEST_CASE("parameters that change places are saved before they are overwritten") {
  Bufferized result(R"(func.func @step(
      %p: tensor<8xf32> {graph.name = "p", graph.role = "parameter"},
      %r: tensor<8xf32> {graph.name = "r", graph.role = "parameter"})
      -> (tensor<8xf32> {graph.name = "p", graph.role = "parameter", graph.alias = 0 : i64},
          tensor<8xf32> {graph.name = "r", graph.role = "parameter", graph.alias = 1 : i64}) {
    return %r, %p : tensor<8xf32>, tensor<8xf32>
  })");
  CHECK(result.count<program::CopyOp>() == 4);
}

TEST_CASE("gradients of several micro-batches are summed between clearing and the update") {
  Bufferized result(R"(func.func @step(
      %p: tensor<8xf32> {graph.name = "p", graph.role = "parameter"},
      %g: tensor<8xf32> {graph.name = "g", graph.role = "input"})
      -> (tensor<8xf32> {graph.name = "p", graph.role = "parameter", graph.alias = 0 : i64}) {
    %e = graph.exp %g : tensor<8xf32>
    %s = graph.accumulate %e count 3 : tensor<8xf32>
    %q = graph.sub %p, %s : tensor<8xf32>
    return %q : tensor<8xf32>
  })");
  CHECK(result.count<program::SegmentOp>() == 3);
  auto program = *result.module->getOps<program::ProgramOp>().begin();
  CHECK(program.getSchedule() == ArrayRef<int64_t>{0, 0, 1, 0, 1, 1, 1, 2, 2, 0});
  CHECK(result.count<program::FillOp>() == 1);
}
