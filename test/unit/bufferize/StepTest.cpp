// The instructions of a bufferized step, and the buffers that results are written to.
#include "dialects/graph/Step.h"
#include "dialects/program/Program.h"
#include "passes/bufferize/Bufferize.h"
#include "passes/fuse/Fuse.h"
#include "passes/promise/Promise.h"
#include "runtime/base/Concat.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace cleave;

namespace {

struct Bufferized {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module, evaluation; // the second only if its text is given

  explicit Bufferized(const std::string &step, const std::string &evaluationText = "") {
    context.loadDialect<graph::GraphDialect, program::ProgramDialect, func::FuncDialect>();
    module = parse(step);
    if (!evaluationText.empty())
      evaluation = parse(evaluationText);
    SmallVector<func::FuncOp> evaluations;
    if (evaluation)
      evaluations.push_back(graph::stepOf(*evaluation));
    REQUIRE(succeeded(bufferize::lowerPrograms(*module, {}, evaluations)));
    bufferize::placePrograms(*module);
    REQUIRE(succeeded(verify(*module)));
    if (evaluation)
      REQUIRE(succeeded(promise::checkProgram(*module)));
  }

  OwningOpRef<ModuleOp> parse(const std::string &text) {
    OwningOpRef<ModuleOp> parsed = parseSourceString<ModuleOp>(text, &context);
    REQUIRE(parsed);
    fuse::formGroups(graph::stepOf(*parsed));
    return parsed;
  }

  std::vector<program::ProgramOp> programs() {
    auto found = module->getOps<program::ProgramOp>();
    return {found.begin(), found.end()};
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

TEST_CASE("an evaluation is a program that keeps what the step leaves") {
  const std::string x = R"(%x: tensor<16xf32> {graph.name = "x", graph.role = "input"})";
  const std::string w =
      R"(%w: tensor<16xf32> {graph.name = "w", graph.role = "state", graph.source = {fill = 1.0 : f64}})";
  const std::string c =
      R"(%c: tensor<16xf32> {graph.name = "c", graph.role = "constant", graph.source = {fill = 2.0 : f64}})";
  const std::string step = "func.func @step(" + x + ", " + w + R"()
      -> (tensor<16xf32> {graph.name = "w", graph.role = "state", graph.alias = 1 : i64}) {
    %0 = graph.add %x, %w : tensor<16xf32>
    return %0 : tensor<16xf32>
  })";
  auto evaluation = [&](const std::string &arguments, const std::string &other) {
    return "func.func @step(" + arguments + R"()
        -> (tensor<16xf32> {graph.name = "y", graph.role = "output"}) {
      %0 = graph.mul %x, )" +
           other + R"( : tensor<16xf32>
      return %0 : tensor<16xf32>
    })";
  };
  auto offsets = [](program::ProgramOp program) {
    std::string text;
    for (auto buffer : program.getBody().front().getOps<program::BufferOp>())
      text += concat(buffer.getName().str(), " ", buffer.getOffset(), " ");
    return text;
  };
  SECTION("it uses the state, and has an input of its own") {
    Bufferized result(step, evaluation(x + ", " + w, "%w"));
    REQUIRE(result.programs().size() == 2);
    CHECK(result.programs()[1].getKind() == program::Kind::Evaluation);
    CHECK(offsets(result.programs()[0]) == "x 0 w 64 ");
    CHECK(offsets(result.programs()[1]) == "w 64 x 0 fusion 128 y 0 ");
    CHECK(result.count<program::TensorOp>() == 3); // x, w, y
  }
  SECTION("it does not write over the state, which it does not read") {
    Bufferized result(step, evaluation(x, "%x"));
    CHECK(offsets(result.programs()[1]) == "w 64 x 0 fusion 128 y 0 ");
  }
  SECTION("a constant that only it reads lies behind the step's buffers") {
    Bufferized result(step, evaluation(x + ", " + c, "%c"));
    CHECK(offsets(result.programs()[0]) == "x 0 w 64 c 128 ");
    CHECK(offsets(result.programs()[1]) == "w 64 x 0 c 128 fusion 192 y 0 ");
    CHECK(result.programs()[0].getArena()->getBytes() == 192);
    CHECK(result.programs()[0].getArena()->getPeak() == 192);
  }
}
