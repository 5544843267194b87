// The plans that a search makes of one step, and the extremes among their programs.
#include "compiler/planner/search/Trials.h"
#include "test/unit/planner/TrainingStep.h"
#include "test/unit/planner/search/FakeStep.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

TEST_CASE("the smallest program and the fastest plan that keeps everything are remembered") {
  FakePrograms programs;
  const FakeStep step(nineLayers(), programs);
  Seen seen;
  const Trials trials(step, h100Node(), onOneRank(1), Goal(), seen);
  const Result<PlannedStep> kept = trials.plan(keepAll(step.model()), trials.withoutLimit());
  REQUIRE(kept);
  REQUIRE((seen.whole && seen.smallest && seen.leastBytes));
  CHECK(seen.whole->peakBytes == kept->plan.peakBytes);
  CHECK(seen.whole->seconds == kept->plan.seconds);
  CHECK(seen.smallest->arenaBytes == kept->plan.arenaBytes);

  const Result<PlannedStep> less = trials.plan(fullRecompute(step.model()), trials.withoutLimit());
  REQUIRE(less);
  CHECK(seen.whole->peakBytes == kept->plan.peakBytes);
  CHECK(seen.smallest->arenaBytes == less->plan.arenaBytes);
  CHECK(*seen.leastBytes == less->plan.arenaBytes);
  CHECK(*seen.lastBytes == less->plan.arenaBytes);
}

TEST_CASE("a program that does not fit counts among the smallest, but is not a plan") {
  FakePrograms programs;
  const FakeStep step(nineLayers(), programs);
  Seen seen;
  const Trials trials(step, h100Node(), onOneRank(1), Goal(), seen);
  const Status status =
      trials.plan(keepAll(step.model()), trials.within(WhenTooLarge::Stop)).status();
  CHECK(status.kind() == StatusKind::Infeasible);
  CHECK(unlessInfeasible(status).isOk());
  CHECK_FALSE(seen.smallest);
  CHECK(seen.leastBytes == peakOf(step.model()));
}

TEST_CASE("a trial that failed for want of memory is not repeated, unless it does more now") {
  FakePrograms programs;
  const FakeStep step(nineLayers(), programs);
  Seen seen;
  const Trials trials(step, h100Node(), onOneRank(1), Goal(), seen);
  const RematPolicy kept = keepAll(step.model());
  auto programsOf = [&](WhenTooLarge whenTooLarge) {
    const int before = programs.read;
    seen.lastBytes.reset();
    const Status status = trials.plan(kept, trials.within(whenTooLarge)).status();
    CHECK(status.kind() == StatusKind::Infeasible);
    CHECK(seen.lastBytes >= kActivation);
    return programs.read - before;
  };
  CHECK(programsOf(WhenTooLarge::Stop) > 0);
  CHECK(programsOf(WhenTooLarge::Stop) == 0);
  CHECK(programsOf(WhenTooLarge::Explain) > 0);
  CHECK(programsOf(WhenTooLarge::Search) == 0);
  CHECK(programsOf(WhenTooLarge::Explain) == 0);
}

TEST_CASE("a failure that is not about memory stays one") {
  FakePrograms programs{.failure = Status::defect("no program")};
  const FakeStep step(nineLayers(), programs);
  Seen seen;
  const Trials trials(step, h100Node(), onOneRank(1), Goal(), seen);
  const Status status = trials.plan(keepAll(step.model()), trials.withoutLimit()).status();
  CHECK(unlessInfeasible(status).kind() == StatusKind::Defect);
}

TEST_CASE("plans around decisions may exceed the budget, and have the bound that is proven") {
  FakePrograms programs;
  const FakeStep step(nineLayers(), programs);
  Seen seen;
  const Trials trials(step, h100Node(), onOneRank(1), Goal(), seen, Proven{1e-9, {}});
  const Result<PlannedStep> kept = trials.plan(keepAll(step.model()), trials.withoutLimit());
  REQUIRE(kept);
  const Result<PlannedStep> around = trials.planAround(fullRecompute(step.model()), kept->plan);
  REQUIRE(around);
  CHECK(around->plan.boundSeconds == 1e-9);
  CHECK(around->plan.peakBytes > 1);
  CHECK_FALSE(around->plan.recomputed.empty());
}
