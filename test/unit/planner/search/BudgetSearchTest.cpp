// Plans within a budget of device memory that the fastest plan exceeds.
#include "compiler/planner/search/BudgetSearch.h"
#include "test/unit/planner/TrainingStep.h"
#include "test/unit/planner/search/FakeStep.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

namespace {

// As searchPlan() prepares it: the plan that keeps everything does not fit, and all meshes are
// bounded.
struct BudgetCase {
  explicit BudgetCase(int64_t budget, std::function<int64_t(int64_t)> bytes = {})
      : programs{.bytes = std::move(bytes)}, options(onOneRank(budget)) {
    CHECK_FALSE(trials.plan(keepAll(step.model()), trials.within(WhenTooLarge::Stop)));
  }

  std::vector<JointMesh> bounded() {
    Result<std::vector<JointMesh>> found = jointMeshes(step.model(), h100Node(), options, pinned);
    REQUIRE(found);
    return std::move(*found);
  }

  FakePrograms programs;
  FakeStep step{nineLayers(), programs};
  PlannerOptions options;
  PinnedRemat pinned{step.model().ops.size()};
  std::vector<JointMesh> meshes = bounded();
  Seen seen;
  Trials trials{step, h100Node(), options, Goal(), seen, Proven{meshes[0].boundSeconds, {}}};
  BudgetSearch search{trials, pinned, h100Node()};
};

// In whole KiB, so that messages name it exactly.
int64_t wholeBytes() { return peakOf(nineLayers()) / 1024 * 1024; }

} // namespace

TEST_CASE("layouts and a policy are found that fit") {
  for (int64_t missing : {1, 4, 8}) {
    BudgetCase budget(wholeBytes() - missing * kActivation);
    const Result<PlannedStep> found = budget.search.jointly(budget.meshes);
    INFO(missing << " activations are missing: " << found.status().message());
    REQUIRE(found);
    CHECK(budget.options.budget.holds(found->plan.arenaBytes));
    CHECK_FALSE(found->plan.recomputed.empty());
  }
}

TEST_CASE("a search whose smallest program is far too large is given up") {
  BudgetCase budget(wholeBytes() - kActivation, [](int64_t peak) { return 4 * peak; });
  const int before = budget.programs.read;
  const Status status = budget.search.jointly(budget.meshes).status();
  CHECK(status.kind() == StatusKind::Infeasible);
  CHECK_THAT(status.message(), Catch::StartsWith("no plan was found that fits into ") &&
                                   Catch::Contains("the smallest found needs "));
  CHECK(budget.programs.read - before < 10);
}

TEST_CASE("where no program is small enough, the message names the smaller one") {
  // A little more than the budget, however much is recomputed.
  const int64_t budget = wholeBytes() - 4 * kActivation;
  BudgetCase little(budget, [&](int64_t peak) { return std::max(peak, budget + 1024); });
  const Status status = little.search.jointly(little.meshes).status();
  CHECK(status.kind() == StatusKind::Infeasible);
  CHECK_THAT(status.message(),
             Catch::StartsWith("no plan was found that fits into ") &&
                 Catch::Contains(concat("(--memory ", (budget + 1024) / 1024, "KiB)")));
}

TEST_CASE("without an explanation a failure is short") {
  const int64_t budget = wholeBytes() - 4 * kActivation;
  BudgetCase search(budget, [&](int64_t peak) { return std::max(peak, budget + 1024); });
  Goal goal;
  goal.whenTooLarge = WhenTooLarge::Search;
  const Trials trials(search.step, h100Node(), search.options, goal, search.seen);
  CHECK(BudgetSearch(trials, search.pinned, h100Node()).jointly(search.meshes).status().message() ==
        "no plan was found that fits");
}

TEST_CASE("sharding first takes the layouts that are best without a limit") {
  BudgetCase fits(wholeBytes() - 4 * kActivation);
  const Result<PlannedStep> found = fits.search.shardingFirst();
  REQUIRE(found);
  CHECK(fits.options.budget.holds(found->plan.arenaBytes));
  BudgetCase small(wholeBytes() / 8);
  CHECK_THAT(
      small.search.shardingFirst().status().message(),
      Catch::StartsWith("with the layouts that are best without a limit") &&
          Catch::EndsWith("without the pin sharding-first layouts may be split more finely"));
}

TEST_CASE("a budget that nothing fits is refused with the smallest program that is found") {
  BudgetCase budget(kActivation);
  REQUIRE(budget.meshes[0].boundSeconds == solver::kForbidden);
  const Status status = budget.search.refuse(budget.meshes);
  CHECK(status.kind() == StatusKind::Infeasible);
  CHECK_THAT(status.message(), Catch::StartsWith("no plan fits into 4.00 KiB per rank on 1 rank"));
  REQUIRE(budget.seen.smallest);
  CHECK(budget.seen.smallest->arenaBytes < wholeBytes());
  CHECK_FALSE(budget.seen.smallest->recomputed.empty());
}

TEST_CASE("a search is given up where the smallest program takes twice the budget") {
  const int64_t bytes = wholeBytes() - 2 * kActivation;
  auto programsOf = [&](double factor) { // that were read
    BudgetCase budget(bytes, [&](int64_t) { return static_cast<int64_t>(factor * double(bytes)); });
    CHECK_FALSE(budget.search.jointly(budget.meshes));
    return budget.programs.read;
  };
  CHECK(programsOf(1.9) > programsOf(2.1));
}
