// How plans under other options are compared, and what budgets are typed as.
#include "passes/driver/Variants.h"

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
