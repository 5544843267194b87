// Plans of a step for given fates.
#include "compiler/planner/search/PlannedStep.h"
#include "test/unit/planner/TrainingStep.h"
#include "test/unit/planner/search/FakeStep.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

TEST_CASE("a plan is that of the step with its repetitions, and its memory that of the program") {
  FakePrograms programs{.bytes = [](int64_t peak) { return peak + 7; }};
  const FakeStep step(nineLayers(), programs);
  const Fates full = fullRecompute(step.model());
  const PlannerOptions options;
  const Result<PlannedStep> kept = planWithFates(step, keepAll(step.model()), h100Node(), options);
  const Result<PlannedStep> again = planWithFates(step, full, h100Node(), options);
  REQUIRE((kept && again));
  CHECK(kept->plan.repetitions.empty());
  CHECK(kept->plan.peakBytes == peakOf(step.model()) + 7);
  CHECK(again->fates == full);
  CHECK_FALSE(again->plan.repetitions.empty());
  CHECK(again->plan.ops.size() == again->step->model().ops.size());
  CHECK(again->plan.peakBytes == peakOf(again->step->model()) + 7);
  CHECK(again->plan.peakBytes < kept->plan.peakBytes);
  CHECK(again->plan.seconds > kept->plan.seconds);
}

TEST_CASE("a step that cannot be realised has no plan") {
  FakePrograms programs{.failure = Status::userError("unreadable")};
  const FakeStep step(nineLayers(), programs);
  const Status status =
      planWithFates(step, keepAll(step.model()), h100Node(), PlannerOptions()).status();
  CHECK(status.kind() == StatusKind::UserError);
  CHECK(status.message() == "unreadable");
}
