// The rules on inputs: which values they may have, and those that hold all micro-batches of a step.
#include "runtime/artifact/Verify.h"
#include "test/unit/runtime_artifact/ValidPlan.h"

#include <catch2/catch.hpp>

using namespace cleave;
using Catch::Matchers::Contains;

TEST_CASE("inputs of all micro-batches name an input of one, and have its rows so often") {
  plan::Plan plan = validPlan();
  plan::Tensor *all = plan.add_tensors();
  *all = plan.tensors(0);
  all->set_name("x/step");
  all->set_all_of("x");
  SECTION("of one micro-batch") { CHECK(brokenRule(plan).empty()); }
  SECTION("of another number") {
    all->set_shape(0, 16);
    CHECK_THAT(brokenRule(plan), Contains("tensor 'x/step': it holds all 1 micro-batches of 'x', "
                                          "whose dtype or shape does not fit"));
  }
  SECTION("of nothing") {
    all->set_all_of("y");
    CHECK_THAT(brokenRule(plan), Contains("it holds all of 'y', which is not an input"));
  }
  SECTION("a parameter") {
    plan.mutable_tensors(1)->set_all_of("x");
    CHECK_THAT(brokenRule(plan), Contains("it holds all of 'x', but it is not an input"));
  }
}

TEST_CASE("inputs have values from 0 or below on") {
  plan::Plan plan = validPlan();
  plan.mutable_tensors(0)->set_vocabulary(5);
  plan.mutable_tensors(0)->set_lowest(1);
  CHECK_THAT(brokenRule(plan), Contains("it has a vocabulary of 5 from 1"));
}
