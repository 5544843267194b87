// The rules on the evaluation of a program: a valid plan with one, and violations of them.
#include "runtime/artifact/Verify.h"
#include "test/unit/runtime_artifact/ValidPlan.h"

#include <catch2/catch.hpp>

using namespace cleave;
using Catch::Matchers::Contains;

TEST_CASE("an evaluation reads what always lives, and nothing that a step has left") {
  plan::Plan plan = validPlan();
  plan::Program &program = *plan.mutable_programs(0);
  plan::Segment *evaluate = program.add_segments();
  for (plan::Buffer &each : *program.mutable_buffers())
    each.set_last(each.first() == 0 && each.last() == Report ? Report + 1 : each.last());
  program.add_evaluation()->set_segment(1);
  plan::Instruction &only = *evaluate->add_instructions();
  SECTION("a parameter is not written") {
    only.mutable_fill()->set_buffer(W);
    CHECK_THAT(brokenRule(plan), Contains("an evaluation may only read"));
  }
  SECTION("not the value of a step") {
    buffer(plan, Loss).set_last(Report + 1);
    only.mutable_metric()->set_buffer(Loss), only.mutable_metric()->set_name("loss.sum");
    CHECK_THAT(brokenRule(plan), Contains("reads buffer 'loss' before anything writes it"));
  }
  SECTION("its segments exist") {
    buffer(plan, Loss).set_last(Report + 1);
    only.mutable_fill()->set_buffer(Loss);
    CHECK(brokenRule(plan) == "");
    program.mutable_evaluation(0)->set_segment(2);
    CHECK_THAT(brokenRule(plan), Contains("evaluation: rank 0 schedules segment 2"));
  }
}
