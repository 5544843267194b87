// Plans of a step for given policies.
#include "compiler/planner/search/PlannedStep.h"
#include "test/unit/planner/TrainingStep.h"
#include "test/unit/planner/search/FakeStep.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

TEST_CASE(
    "a plan is that of the step with its recomputed ops, and its memory that of the program") {
  FakePrograms programs{.bytes = [](int64_t peak) { return peak + 7; }};
  const FakeStep step(nineLayers(), programs);
  const RematPolicy full = fullRecompute(step.model());
  const PlannerOptions options;
  const Result<PlannedStep> kept = planWithPolicy(step, keepAll(step.model()), h100Node(), options);
  const Result<PlannedStep> less = planWithPolicy(step, full, h100Node(), options);
  REQUIRE((kept && less));
  CHECK(kept->plan.recomputed.empty());
  CHECK(kept->plan.peakBytes == peakOf(step.model()) + 7);
  CHECK(less->policy == full);
  CHECK_FALSE(less->plan.recomputed.empty());
  CHECK(less->plan.ops.size() == less->step->model().ops.size());
  CHECK(less->plan.peakBytes == peakOf(less->step->model()) + 7);
  CHECK(less->plan.peakBytes < kept->plan.peakBytes);
  CHECK(less->plan.seconds > kept->plan.seconds);
}

TEST_CASE("a step that cannot be realised has no plan") {
  FakePrograms programs{.failure = Status::userError("unreadable")};
  const FakeStep step(nineLayers(), programs);
  const Status status =
      planWithPolicy(step, keepAll(step.model()), h100Node(), PlannerOptions()).status();
  CHECK(status.kind() == StatusKind::UserError);
  CHECK(status.message() == "unreadable");
}
