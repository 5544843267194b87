// Quick plans, and the choice among them.
#include "compiler/planner/search/QuickPlan.h"
#include "test/unit/planner/TrainingStep.h"
#include "test/unit/planner/search/FakeStep.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

TEST_CASE("of the plans that fit the fastest is taken, and the smallest has the fewest bytes") {
  QuickPlan quick;
  quick.points = {
      {.seconds = 1, .bytes = 100}, {.seconds = 3, .bytes = 20}, {.seconds = 2, .bytes = 40}};
  CHECK(quick.within(1000)->seconds == 1);
  CHECK(quick.within(100)->seconds == 1);
  CHECK(quick.within(99)->seconds == 2);
  CHECK(quick.within(20)->seconds == 3);
  CHECK(quick.within(19) == nullptr);
  CHECK(quick.smallest().bytes == 20);
}

TEST_CASE("plans that keep everything and that recompute are made, each free and as zero3") {
  FakePrograms programs;
  const FakeStep step(nineLayers(), programs);
  PlannerOptions options = onOneRank(1);
  const Result<QuickPlan> alone = quickPlan(step, h100Node(), options);
  REQUIRE(alone);
  REQUIRE(alone->points.size() == 2);
  CHECK(alone->points[0].pin.empty());
  CHECK(alone->points[0].bytes == peakOf(step.model()));
  CHECK(alone->points[0].seconds >= alone->boundSeconds);
  CHECK(alone->points[1].pin == "full-recompute");
  CHECK(alone->points[1].bytes < alone->points[0].bytes);
  options.ranks = 2;
  const Result<QuickPlan> two = quickPlan(step, h100Node(), options);
  REQUIRE(two);
  REQUIRE(two->points.size() == 4);
  CHECK(two->points[2].pin == "zero3");
  CHECK(two->points[3].pin == "zero3,full-recompute");
}

TEST_CASE("a first plan that fits is the only one") {
  FakePrograms programs;
  const FakeStep step(nineLayers(), programs);
  const Result<QuickPlan> quick = quickPlan(step, h100Node(), onOneRank(peakOf(step.model())));
  REQUIRE(quick);
  CHECK(quick->points.size() == 1);
}

TEST_CASE("a recipe of the user leaves one choice of what is recomputed") {
  FakePrograms programs;
  const FakeStep step(nineLayers(), programs);
  PlannerOptions options = onOneRank(1);
  options.pins = *Pins::parse("full-recompute");
  const Result<QuickPlan> quick = quickPlan(step, h100Node(), options);
  REQUIRE(quick);
  CHECK(quick->points.size() == 1);
}
