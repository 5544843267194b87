// The part of a kernel group that computes some of its results.
#include "compiler/planner/remat/PartOfGroup.h"
#include "compiler/planner/choices/Meshes.h"
#include "test/unit/planner/Facts.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

namespace {

using Flags = std::vector<bool>;

// %e and %s follow from x, and s from e; %z from z alone.
StepModel groupModel() {
  return modelOf(R"(
func.func @step(%x: tensor<64x64xf32> {graph.role = "input", graph.name = "x"},
                %z: tensor<64x64xf32> {graph.role = "input", graph.name = "z"}) ->
    (tensor<64x64xf32> {graph.role = "output", graph.name = "e"}, tensor<64x64xf32> {graph.role = "output", graph.name = "s"},
     tensor<64x64xf32> {graph.role = "output", graph.name = "t"}) {
  %0:3 = graph.fusion (%a = %x : tensor<64x64xf32>, %b = %z : tensor<64x64xf32>)
      -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
    %e = graph.exp %a : tensor<64x64xf32>
    %s = graph.sqrt %e : tensor<64x64xf32>
    %t = graph.exp %b : tensor<64x64xf32>
    graph.yield %e, %s, %t : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  }
  return %0#0, %0#1, %0#2 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
})");
}

} // namespace

TEST_CASE("a part reads the operands that its results follow from, and no others") {
  const StepModel model = groupModel();
  const Op &op = model.ops[0];
  REQUIRE(op.group);
  const Flags none(3, false);
  const GroupPart first = partOf(op, {true, false, false}, none);
  CHECK(first.results == Flags{true, false, false});
  CHECK(first.operands == Flags{true, false});
  CHECK(partOf(op, {false, false, true}, none).operands == Flags{false, true});
  CHECK_FALSE(isWhole(first));
  CHECK(isWhole(partOf(op, {true, true, true}, none)));
}

TEST_CASE("a result that is given is read where another follows from it, and not computed") {
  const StepModel model = groupModel();
  const GroupPart part = partOf(model.ops[0], {true, true, false}, {true, false, false});
  CHECK(part.results == Flags{false, true, false});
  CHECK(part.reads == Flags{true, false, false});
  CHECK(part.operands == Flags{false, false});
  // Nothing follows from the last one.
  CHECK(partOf(model.ops[0], {true, true, false}, {false, false, true}).reads == Flags(3, false));
}

TEST_CASE("an op that is no group computes all results from all operands") {
  const StepModel model = trainingModel(8, 4, 16);
  const GroupPart part = partOf(model.ops[0], {false}, {true});
  CHECK(part.results == Flags{true});
  CHECK(part.operands == Flags{true, true});
  CHECK(isWhole(part));
}

TEST_CASE("a part takes the seconds of what it reads and writes, and an empty one none") {
  const StepModel model = groupModel();
  const Mesh mesh = *Mesh::parse("a=1");
  Costs costs(model, h100Node(), mesh);
  const Op &op = model.ops[0];
  const OpChoice choice = enumerateOp(op, model, mesh)[0];
  const Flags none(3, false);
  const double whole = secondsOfPart(costs, op, choice, partOf(op, {true, true, true}, none)),
               two = secondsOfPart(costs, op, choice, partOf(op, {true, true, false}, none)),
               one = secondsOfPart(costs, op, choice, partOf(op, {true, false, false}, none));
  CHECK(whole == costs.kernels(op, choice));
  CHECK(one > 0);
  CHECK(one < two); // two blocks and three
  CHECK(two < whole);
  CHECK(secondsOfPart(costs, op, choice, partOf(op, none, none)) == 0);
}
