// The choice among quick plans.
#include "passes/driver/QuickPlan.h"

#include <catch2/catch.hpp>

using namespace cleave::driver;

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
