// Plans and refusals answer other budgets.
#include "compiler/planner/search/PlanMemory.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;

namespace {

PlanReport planOf(int64_t bytes, double seconds, bool isBinding = true) {
  PlanReport plan;
  plan.arenaBytes = bytes;
  plan.seconds = seconds;
  plan.isBinding = isBinding;
  return plan;
}

} // namespace

TEST_CASE("a plan answers for the budgets between its bytes and its own budget") {
  PlanMemory memory;
  CHECK_FALSE(memory.within(100));
  memory.add(100, planOf(80, 3));
  for (int64_t budget : {80, 90, 100}) {
    const auto known = memory.within(budget);
    REQUIRE(known);
    CHECK((known->isOk() && (*known)->seconds == 3));
  }
  CHECK_FALSE(memory.within(79));
  CHECK_FALSE(memory.within(101));
  CHECK_FALSE(memory.within(Budget::unlimited()));
}

TEST_CASE("the fastest plan answers for all budgets that hold it") {
  PlanMemory memory;
  memory.add(100, planOf(80, 2, /*isBinding=*/false));
  CHECK(memory.within(Budget::unlimited()));
  CHECK(memory.within(1000));
  CHECK_FALSE(memory.within(79));
}

TEST_CASE("a refusal answers for smaller budgets, and only if it is for want of memory") {
  PlanMemory memory;
  memory.add(50, Status::infeasible("too large"));
  const auto known = memory.within(40);
  REQUIRE(known);
  CHECK(known->status().message() == "too large");
  CHECK_FALSE(memory.within(51));
  PlanMemory other;
  other.add(50, Status::userError("no such mesh"));
  CHECK_FALSE(other.within(40));
}
