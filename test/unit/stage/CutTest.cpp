// Borders in a forward step: where they are, and which values pass them.
#include "passes/stage/Cut.h"

#include "dialects/graph/Transfer.h"
#include "test/unit/graph_text/GraphText.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::test;
using namespace mlir;

// Four products of equal cost. The first result is read again by the last addition, and a mask of
// the input by two products.
static const char *kMaskedModel = R"(
func.func @step(%x: tensor<4x4xf32> {graph.name = "x", graph.role = "input"},
    %a: tensor<4x4xf32> {graph.name = "a", graph.role = "parameter"},
    %b: tensor<4x4xf32> {graph.name = "b", graph.role = "parameter"},
    %c: tensor<4x4xf32> {graph.name = "c", graph.role = "parameter"},
    %d: tensor<4x4xf32> {graph.name = "d", graph.role = "parameter"})
    -> (tensor<4x4xf32> {graph.name = "y", graph.role = "output"}) {
  %mask = graph.exp %x : tensor<4x4xf32>
  %0 = graph.dot_general %x, %a batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %1 = graph.dot_general %0, %b batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %2 = graph.mul %1, %mask : tensor<4x4xf32>
  %3 = graph.dot_general %2, %c batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %4 = graph.dot_general %3, %d batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %5 = graph.mul %4, %mask : tensor<4x4xf32>
  %6 = graph.add %5, %0 : tensor<4x4xf32>
  return %6 : tensor<4x4xf32>
})";

// Each product of the model takes a second, its other ops nothing.
static stage::CutCosts costs(double secondsPerByte) {
  return {{0, 1, 1, 0, 1, 1, 0, 0}, secondsPerByte};
}

static std::vector<std::pair<int64_t, int64_t>> transfersOf(ModuleOp module) {
  std::vector<std::pair<int64_t, int64_t>> found;
  module.walk([&](graph::TransferOp op) { found.emplace_back(op.getFrom(), op.getTo()); });
  return found;
}

TEST_CASE("a value passes every border up to its last reader, and masks of inputs pass none") {
  GraphText text(kMaskedModel);
  REQUIRE(succeeded(stage::cutIntoChunks(graph::stepOf(text.module()), 4, costs(1e-3))));
  // %0 passes all three borders, %2 and %3 one each.
  const auto found = transfersOf(text.module());
  CHECK(found.size() == 5);
  for (auto [from, to] : found)
    CHECK(to == from + 1);
  text.module().walk(
      [&](graph::MulOp op) { CHECK(op->getOperand(1).getDefiningOp<graph::ExpOp>() != nullptr); });
}

TEST_CASE("a step has at most as many stages as ops that pass values") {
  GraphText text(kMaskedModel);
  ScopedDiagnosticHandler quiet(text.context(), [](Diagnostic &) { return success(); });
  CHECK(failed(stage::cutIntoChunks(graph::stepOf(text.module()), 8, costs(1))));
}

TEST_CASE("chunks have equal seconds, and ops on inputs alone have no chunk") {
  GraphText text(kMaskedModel);
  stage::CutCosts slowEnd = costs(0);
  SECTION("equal products") {
    CHECK(stage::cutIntoChunks(graph::stepOf(text.module()), 2, slowEnd)->ofOp ==
          std::vector<int64_t>{-1, 0, 0, 1, 1, 1, 1, 1});
  }
  SECTION("the last product takes as long as the others together") {
    slowEnd.opSeconds[5] = 3;
    CHECK(stage::cutIntoChunks(graph::stepOf(text.module()), 2, slowEnd)->ofOp ==
          std::vector<int64_t>{-1, 0, 0, 0, 0, 1, 1, 1});
  }
}
