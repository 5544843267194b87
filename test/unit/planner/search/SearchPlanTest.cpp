// The best plan of a step within its memory: what is tried, and when the search ends.
#include "compiler/planner/search/SearchPlan.h"
#include "test/unit/planner/TrainingStep.h"
#include "test/unit/planner/search/FakeStep.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

namespace {

struct PlanCase {
  explicit PlanCase(int64_t missing) : options(onOneRank(peakOf(step.model()) - missing)) {}

  Result<PlannedStep> search() { return searchPlan(step, h100Node(), options, Goal(), seen); }

  FakePrograms programs;
  FakeStep step{nineLayers(), programs};
  PlannerOptions options;
  Seen seen;
};

} // namespace

TEST_CASE("a step that fits is planned once") {
  PlanCase step(0);
  const Result<PlannedStep> found = step.search();
  REQUIRE(found);
  CHECK(found->plan.recomputed.empty());
  CHECK(found->recomputation.empty());
  CHECK(found->plan.arenaBytes == step.options.budget.bytes());
  CHECK(step.programs.copies == 1);
  CHECK(step.seen.leastBytes == found->plan.arenaBytes);
}

TEST_CASE("a step that does not fit is recomputed in part, and says so") {
  PlanCase whole(0), step(4 * kActivation);
  const Result<PlannedStep> kept = whole.search(), found = step.search();
  INFO(found.status().message());
  REQUIRE((kept && found));
  const PlanReport &plan = found->plan;
  CHECK(step.options.budget.holds(plan.arenaBytes));
  CHECK(plan.boundSeconds >= kept->plan.boundSeconds);
  CHECK(plan.boundSeconds <= plan.seconds);
  CHECK(plan.isBinding);
  CHECK_THAT(found->recomputation,
             Catch::StartsWith(concat(plan.recomputed.size(), " activations are recomputed")));
}

TEST_CASE("a plan fits although its program takes more than the network says") {
  PlanCase step(4 * kActivation);
  step.programs.bytes = [](int64_t peak) { return peak + 2 * kActivation; };
  const Result<PlannedStep> found = step.search();
  INFO(found.status().message());
  REQUIRE(found);
  CHECK(step.options.budget.holds(found->plan.arenaBytes));
}

TEST_CASE("where no plan fits, this is proven, and the bytes of the smallest program are told") {
  PlanCase step(peakOf(nineLayers()) - kActivation);
  const Status status = step.search().status();
  CHECK(status.kind() == StatusKind::Infeasible);
  CHECK_THAT(status.message(), Catch::StartsWith("no plan fits into 4.00 KiB"));
  REQUIRE(step.seen.leastBytes);
  CHECK(*step.seen.leastBytes > kActivation);
  CHECK(*step.seen.leastBytes < peakOf(nineLayers()));
}

TEST_CASE("a hopeless search proves nothing") {
  PlanCase step(4 * kActivation);
  step.programs.bytes = [](int64_t peak) { return 4 * peak; };
  const Status status = step.search().status();
  CHECK(status.kind() == StatusKind::Infeasible);
  CHECK_THAT(status.message(), Catch::StartsWith("no plan was found that fits into "));
  REQUIRE(step.seen.leastBytes);
  CHECK(*step.seen.leastBytes > 2 * step.options.budget.bytes());
}

TEST_CASE("a recipe leaves nothing to search") {
  PlanCase step(kActivation);
  step.options.pins = *Pins::parse("full-recompute");
  const Result<PlannedStep> found = step.search();
  REQUIRE(found);
  CHECK_FALSE(found->plan.recomputed.empty());
  CHECK(found->recomputation.empty()); // the user knows
  CHECK(step.programs.copies == 1);
}

TEST_CASE("values are kept in host memory if there is any") {
  PlanCase step(6 * kActivation);
  step.options.spaces.host = 100 * kActivation;
  const Result<PlannedStep> found = step.search();
  INFO(found.status().message());
  REQUIRE(found);
  CHECK(step.options.budget.holds(found->plan.arenaBytes));
}

TEST_CASE("a step that cannot be realised ends the search") {
  PlanCase step(4 * kActivation);
  step.programs.failure = Status::userError("unreadable");
  CHECK(step.search().status().message() == "unreadable");
  CHECK_FALSE(step.seen.leastBytes);
}
