// Bounds on layouts and recomputation together.
#include "compiler/planner/remat/JointBound.h"
#include "compiler/planner/choices/Meshes.h"
#include "compiler/planner/search/Planner.h"
#include "test/unit/graph_text/DeepStep.h"
#include "test/unit/planner/Facts.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

namespace {

struct BoundedStep {
  const StepModel plain = modelOf(deepStep(6, 64, 32)), model = withRoomForRecomputation(plain);
  const Mesh mesh = *Mesh::parse("a=2");
  Costs costs{model, h100Node(), mesh};

  Joint in(const Budget &budget, const JointHint &hint = {}) {
    Result<Joint> joint =
        boundJointly(costs, {}, PinnedRemat(model.ops.size()), budget, hint, {}, defaultLimits());
    REQUIRE(joint.isOk());
    return std::move(*joint);
  }
};

} // namespace

TEST_CASE("there is room for every op that may be recomputed") {
  const BoundedStep c;
  int recomputable = 0;
  for (int i = 0; i < static_cast<int>(c.plain.ops.size()); ++i)
    recomputable += isRecomputable(c.plain, i);
  REQUIRE(recomputable > 0);
  CHECK(c.model.insertable == c.plain.insertable + recomputable);
}

TEST_CASE("without a limit the bound is that of the fastest plan, and memory has no price") {
  BoundedStep c;
  const Joint joint = c.in(Budget::unlimited());
  PlannerOptions options{.ranks = 2, .mesh = c.mesh};
  const Result<PlanReport> plan = planStep(c.plain, h100Node(), options);
  REQUIRE(plan.isOk());
  CHECK(joint.lowerBound <= plan->seconds * (1 + 1e-9));
  CHECK(joint.lowerBound >= plan->boundSeconds * 0.99);
  CHECK(joint.secondsPerByte == 0);
  CHECK(joint.choices.size() == joint.kept.network.nodes.size());
}

TEST_CASE("less memory never lowers the bound, and a price of memory proves it") {
  BoundedStep c;
  PlannerOptions options{.ranks = 2, .mesh = c.mesh};
  const Result<PlanReport> plan = planStep(c.plain, h100Node(), options);
  REQUIRE(plan.isOk());
  const double free = c.in(Budget::unlimited()).lowerBound;
  double before = free;
  int priced = 0;
  for (int percent : {100, 80, 60, 40}) {
    const Joint joint = c.in(plan->peakBytes * percent / 100);
    CHECK(joint.lowerBound >= before * (1 - 2e-3)); // bounds are raised to within this share
    priced += joint.secondsPerByte > 0;
    before = joint.lowerBound;
  }
  CHECK(before > free);
  CHECK(priced > 0);
}

TEST_CASE("where no plan fits, whatever it recomputes, that is proven") {
  BoundedStep c;
  CHECK(c.in(1024).lowerBound == solver::kForbidden);
  CHECK(c.in(1024, {.isDoubtful = true}).lowerBound == solver::kForbidden);
}

TEST_CASE("a bound is within 2e-3 of a thorough one, also from a price that is far too low") {
  BoundedStep c;
  PlannerOptions options{.ranks = 2, .mesh = c.mesh};
  const Result<PlanReport> plan = planStep(c.plain, h100Node(), options);
  REQUIRE(plan.isOk());
  for (int percent : {55, 50, 45, 40}) {
    const int64_t budget = plan->peakBytes * percent / 100;
    const Joint joint = c.in(budget);
    JointHint hint{.price = joint.secondsPerByte, .instant = joint.instant, .isThorough = true};
    const Joint thorough = c.in(budget, hint);
    INFO(percent << " % of the memory");
    CHECK(joint.lowerBound >= thorough.lowerBound * (1 - 2e-3));
    hint.price /= 15; // eight steps by a half each lead to it
    CHECK(c.in(budget, hint).lowerBound >= thorough.lowerBound * (1 - 2e-3));
  }
}
