// A policy for layouts that are given, in a budget.
#include "compiler/planner/search/RematSearch.h"
#include "test/unit/graph_text/DeepStep.h"
#include "test/unit/planner/Facts.h"
#include "test/unit/planner/TrainingStep.h"
#include "test/unit/planner/search/FakeStep.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

namespace {

// A search within a budget for the layouts of the plan that keeps everything.
struct RematCase {
  explicit RematCase(int64_t missing, std::function<int64_t(int64_t)> bytes = {})
      : programs{.bytes = std::move(bytes)}, budget(peakOf(step.model()) - missing) {}

  GivenLayouts layouts(bool isAround = true) { return {costs, whole, isAround}; }

  FakePrograms programs;
  FakeStep step{nineLayers(), programs};
  int64_t budget;
  Seen seen;
  Trials trials{step, h100Node(), onOneRank(budget), Goal(), seen};
  PinnedRemat pinned{step.model().ops.size()};
  RematSearch remat{trials, pinned};
  PlanReport whole = plannedBy(step.model(), "", 1);
  Costs costs{step.model(), h100Node(), whole.mesh};
};

} // namespace

TEST_CASE("a policy is found with which the program just fits") {
  RematCase search(4 * kActivation);
  REQUIRE(search.remat.search(search.layouts()));
  REQUIRE(search.remat.best());
  const PlanReport &plan = search.remat.best()->plan;
  CHECK(plan.arenaBytes <= search.budget);
  CHECK(plan.arenaBytes > search.budget - 2 * kActivation);
  CHECK_FALSE(plan.recomputed.empty());
  CHECK(plan.seconds > search.whole.seconds);
  CHECK(search.remat.cutoff() == plan.seconds);
}

TEST_CASE("a program that takes more than the network says corrects the target") {
  RematCase search(4 * kActivation, [](int64_t peak) { return peak + 3 * kActivation; });
  REQUIRE(search.remat.search(search.layouts()));
  CHECK(search.programs.read > 1);
  REQUIRE(search.remat.best());
  CHECK(search.remat.best()->plan.arenaBytes <= search.budget);
}

TEST_CASE("a program that no target makes small enough leaves no plan, but its policy is known") {
  RematCase search(4 * kActivation, [](int64_t peak) { return 2 * peak; });
  REQUIRE(search.remat.search(search.layouts()));
  CHECK_FALSE(search.remat.best());
  CHECK(search.remat.cutoff() == solver::kForbidden);
  CHECK(search.remat.bestTried() != keepAll(search.step.model()));
}

TEST_CASE("plans on other layouts show what a policy saves, and are not kept") {
  RematCase search(4 * kActivation);
  REQUIRE(search.remat.search(search.layouts(/*isAround=*/false)));
  CHECK(search.programs.read > 0);
  CHECK_FALSE(search.remat.best());
}

TEST_CASE("a policy is planned once") {
  RematCase search(4 * kActivation);
  const RematPolicy full = fullRecompute(search.step.model());
  const Result<int64_t> slack = search.remat.tryOn(search.whole.mesh, full);
  REQUIRE(slack);
  const int copies = search.programs.copies;
  CHECK(*search.remat.tryOn(search.whole.mesh, full) == *slack);
  CHECK(search.programs.copies == copies);
}

TEST_CASE("the fastest policy that fits is the best, or else the smallest") {
  RematCase search(0);
  const StepModel &model = search.step.model();
  const RematPolicy full = fullRecompute(model), kept = keepAll(model);
  CHECK(*search.remat.tryOn(search.whole.mesh, full) > 0);
  CHECK(*search.remat.tryOn(search.whole.mesh, kept) == 0);
  CHECK(search.remat.bestTried() == kept);
  RematCase less(1);
  CHECK(*less.remat.tryOn(less.whole.mesh, full) > 0);
  CHECK(*less.remat.tryOn(less.whole.mesh, kept) == -1);
  CHECK(less.remat.bestTried() == full);
}

TEST_CASE("what is pinned is not searched") {
  RematCase search(4 * kActivation);
  for (size_t i = 0; i < search.step.model().ops.size(); ++i)
    if (search.step.model().ops[i].kind == "graph.exp")
      search.pinned.recomputed[i] = false;
  REQUIRE(search.remat.search(search.layouts()));
  REQUIRE(search.remat.best());
  for (const Op &op : search.remat.best()->step->model().ops)
    CHECK_FALSE((op.isRecomputed && op.kind == "graph.exp"));
}

TEST_CASE("only a faster plan is kept") {
  RematCase search(0);
  PlannedStep slow, fast;
  slow.plan.seconds = 2, fast.plan.seconds = 1;
  REQUIRE(search.remat.keepBest(std::move(fast)));
  REQUIRE(search.remat.keepBest(std::move(slow)));
  CHECK(search.remat.best()->plan.seconds == 1);
  CHECK(search.remat.keepBest(Status::infeasible("too large")).isOk());
  CHECK(search.remat.keepBest(Status::defect("bug")).kind() == StatusKind::Defect);
  CHECK(search.remat.takeBest());
  CHECK_FALSE(search.remat.best());
}

TEST_CASE("a policy is chosen for six targets") {
  const int64_t budget = peakOf(nineLayers()) - 2 * kActivation;
  RematCase search(2 * kActivation, [=](int64_t) { return budget + kActivation; });
  REQUIRE(search.remat.search(search.layouts()));
  CHECK(search.programs.read == 6);
}

TEST_CASE("a plan within five per cent of the bound is good") {
  for (double gap : {0.04, 0.06}) {
    RematCase search(0);
    PlannedStep planned;
    planned.plan.seconds = 1;
    planned.plan.gap = gap;
    REQUIRE(search.remat.keepBest(std::move(planned)));
    CHECK(search.remat.isGood() == (gap < 0.05));
  }
}

TEST_CASE("a close plan may leave a fiftieth of the budget, other plans lead to further policies") {
  const StepModel model = modelOf(deepStep(30, 64, 16));
  const PlanReport whole = plannedBy(model, "", 1);
  Costs costs(model, h100Node(), whole.mesh);
  const int64_t budget = peakOf(model) - 4 * kActivation;
  struct Case {
    double share;  // of the seconds of keeping everything, which is the bound
    int64_t slack; // of the budget, its reciprocal
    bool isEnough; // a first plan within 2 % of the bound leaves at most a fiftieth
  };
  for (const auto &[share, slack, isEnough] :
       {Case{1, 55, true}, {0.985, 55, false}, {1, 30, false}}) {
    FakePrograms programs{
        .bytes = [budget, slack = slack](int64_t) { return budget - budget / slack; }};
    const FakeStep step(model, programs);
    Seen seen;
    const Proven proven{share * whole.seconds, {}};
    const Trials trials(step, h100Node(), onOneRank(budget), Goal(), seen, proven);
    const PinnedRemat pinned(model.ops.size());
    RematSearch remat(trials, pinned);
    REQUIRE(remat.search({costs, whole}));
    CHECK((programs.read == 1) == isEnough);
  }
}
