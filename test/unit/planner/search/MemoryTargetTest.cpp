// The memory that a policy is chosen for, corrected until the program just fits.
#include "compiler/planner/search/MemoryTarget.h"

#include <catch2/catch.hpp>

using namespace cleave::planner;

TEST_CASE("a target is corrected by the bytes that the program misses") {
  MemoryTarget target(1000, 5);
  target.record(-80);
  target.correct(-80, 990, 10);
  CHECK(target.bytes() == 990 - 80 - 10); // the policy for 1000 bytes took 990
  CHECK(target.fitting() == 0);
  target.record(30);
  CHECK(target.fitting() == 900);
  target.correct(30, 890, 10);
  CHECK(target.bytes() == 900 + 30 - 10);
}

TEST_CASE("a target stays between one that fits and one that is too large") {
  MemoryTarget target(1000, 5);
  target.record(200);
  target.correct(200, 1000, 0);
  REQUIRE(target.bytes() == 1200);
  target.record(-500);
  target.correct(-500, 1200, 0); // 700 is below what fits
  CHECK(target.bytes() == 1100);
  target.record(300);
  target.correct(300, 1100, 0); // 1400 is above what does not
  CHECK(target.bytes() == 1150);
  CHECK(target.fitting() == 1100);
}

TEST_CASE("a search is closed once both targets are hardly different") {
  MemoryTarget target(1000, 5);
  CHECK_FALSE(target.isClosed());
  target.record(-6);
  CHECK_FALSE(target.isClosed());
  target.correct(-6, 1000, 0);
  REQUIRE(target.bytes() == 994);
  target.record(0);
  CHECK_FALSE(target.isClosed());
  target.correct(1, 994, 0);
  REQUIRE(target.bytes() == 995);
  target.record(0);
  CHECK(target.isClosed());
}
