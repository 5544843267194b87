// Plans under other options: what is known of them, how they are compared, and what budgets are
// typed as.
#include "passes/driver/Variants.h"

#include "test/unit/driver/Answers.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::driver;
using namespace cleave::test;
using Catch::Matchers::Contains;

TEST_CASE("less time is said as a share of the time") {
  CHECK(comparedTo(0.9, 1) == "10.0 % less time");
  CHECK(comparedTo(1.5, 1) == "50.0 % more time");
  CHECK(comparedTo(1, 1) == "the same time");
  CHECK(memoryText(1) == "1KiB");
  CHECK(memoryText((int64_t(1) << 30) + 1) == "1025MiB");
}

TEST_CASE("a plan that is known is not searched again, unless more than memory differs") {
  CompileOptions options = gptOptions(1);
  AtPrimitive at(options);
  planner::PlanReport known;
  known.seconds = 123;
  known.arenaBytes = 1000;
  REQUIRE(at.variants.remember(options, known).isOk());
  options.memory = 1000;
  Result<planner::PlanReport> plan = at.variants.plan(options);
  REQUIRE(plan.isOk());
  CHECK(plan->seconds == 123);
  options.memory.reset();
  options.ranks = 2;
  plan = at.variants.plan(options);
  REQUIRE(plan.isOk());
  CHECK(plan->seconds < 123);
}
