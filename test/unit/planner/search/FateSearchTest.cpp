// Fates for layouts that are given, in a budget.
#include "compiler/planner/search/FateSearch.h"
#include "test/unit/planner/TrainingStep.h"
#include "test/unit/planner/search/FakeStep.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

namespace {

// A search within a budget for the layouts of the plan that keeps everything.
struct FateCase {
  explicit FateCase(int64_t missing, std::function<int64_t(int64_t)> bytes = {})
      : programs{.bytes = std::move(bytes)}, budget(peakOf(step.model()) - missing) {}

  GivenLayouts layouts(bool isAround = true) { return {costs, whole, isAround}; }

  FakePrograms programs;
  FakeStep step{nineLayers(), programs};
  int64_t budget;
  Seen seen;
  Trials trials{step, h100Node(), onOneRank(budget), Goal(), seen};
  ForcedFates forced{step.model().ops.size()};
  FateSearch fates{trials, forced};
  PlanReport whole = plannedBy(step.model(), "", 1);
  Costs costs{step.model(), h100Node(), whole.mesh};
};

} // namespace

TEST_CASE("fates are found with which the program just fits") {
  FateCase search(4 * kActivation);
  REQUIRE(search.fates.search(search.layouts()));
  REQUIRE(search.fates.best());
  const PlanReport &plan = search.fates.best()->plan;
  CHECK(plan.arenaBytes <= search.budget);
  CHECK(plan.arenaBytes > search.budget - 2 * kActivation);
  CHECK_FALSE(plan.repetitions.empty());
  CHECK(plan.seconds > search.whole.seconds);
  CHECK(search.fates.cutoff() == plan.seconds);
}

TEST_CASE("a program that takes more than the network says corrects the target") {
  FateCase search(4 * kActivation, [](int64_t peak) { return peak + 3 * kActivation; });
  REQUIRE(search.fates.search(search.layouts()));
  CHECK(search.programs.read > 1);
  REQUIRE(search.fates.best());
  CHECK(search.fates.best()->plan.arenaBytes <= search.budget);
}

TEST_CASE("a program that no target makes small enough leaves no plan, but its fates are known") {
  FateCase search(4 * kActivation, [](int64_t peak) { return 2 * peak; });
  REQUIRE(search.fates.search(search.layouts()));
  CHECK_FALSE(search.fates.best());
  CHECK(search.fates.cutoff() == solver::kForbidden);
  CHECK(search.fates.bestTried() != keepAll(search.step.model()));
}

TEST_CASE("plans on other layouts show what fates save, and are not kept") {
  FateCase search(4 * kActivation);
  REQUIRE(search.fates.search(search.layouts(/*isAround=*/false)));
  CHECK(search.programs.read > 0);
  CHECK_FALSE(search.fates.best());
}

TEST_CASE("fates are planned once") {
  FateCase search(4 * kActivation);
  const Fates full = fullRecompute(search.step.model());
  const Result<int64_t> slack = search.fates.tryOn(search.whole.mesh, full);
  REQUIRE(slack);
  const int copies = search.programs.copies;
  CHECK(*search.fates.tryOn(search.whole.mesh, full) == *slack);
  CHECK(search.programs.copies == copies);
}

TEST_CASE("the fastest of the fates that fit is the best, or else the smallest") {
  FateCase search(0);
  const StepModel &model = search.step.model();
  const Fates full = fullRecompute(model), kept = keepAll(model);
  CHECK(*search.fates.tryOn(search.whole.mesh, full) > 0);
  CHECK(*search.fates.tryOn(search.whole.mesh, kept) == 0);
  CHECK(search.fates.bestTried() == kept);
  FateCase less(1);
  CHECK(*less.fates.tryOn(less.whole.mesh, full) > 0);
  CHECK(*less.fates.tryOn(less.whole.mesh, kept) == -1);
  CHECK(less.fates.bestTried() == full);
}

TEST_CASE("what is forced is not searched") {
  FateCase search(4 * kActivation);
  for (size_t i = 0; i < search.step.model().ops.size(); ++i)
    if (search.step.model().ops[i].kind == "graph.exp")
      search.forced.again[i] = false;
  REQUIRE(search.fates.search(search.layouts()));
  REQUIRE(search.fates.best());
  for (const Op &op : search.fates.best()->step->model().ops)
    CHECK_FALSE((op.isAgain && op.kind == "graph.exp"));
}

TEST_CASE("only a faster plan is kept") {
  FateCase search(0);
  PlannedStep slow, fast;
  slow.plan.seconds = 2, fast.plan.seconds = 1;
  REQUIRE(search.fates.keepBest(std::move(fast)));
  REQUIRE(search.fates.keepBest(std::move(slow)));
  CHECK(search.fates.best()->plan.seconds == 1);
  CHECK(search.fates.keepBest(Status::infeasible("too large")).isOk());
  CHECK(search.fates.keepBest(Status::defect("bug")).kind() == StatusKind::Defect);
  CHECK(search.fates.takeBest());
  CHECK_FALSE(search.fates.best());
}
