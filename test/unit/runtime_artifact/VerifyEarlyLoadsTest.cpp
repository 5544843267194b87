// The verifier's rule of early loads: the valid plan with one violation of it.
#include "runtime/artifact/Verify.h"
#include "test/unit/runtime_artifact/ValidPlan.h"

#include <catch2/catch.hpp>

using namespace cleave;
using Catch::Matchers::Contains;

// A valid plan for GPUs whose load of x may run during the step before.
static plan::Plan earlyPlan() {
  plan::Plan plan = gpuPlan();
  plan::Instruction &load = instruction(plan, Load);
  load.set_queue(2), load.mutable_load_input()->set_early(true);
  instruction(plan, Multiply).add_waits(Load);
  buffer(plan, X).set_last(Report);
  plan.mutable_programs(0)->mutable_arenas(0)->set_peak_bytes(1024 + 4 * 256);
  return plan;
}

TEST_CASE("early loads: during the step before, they disturb nothing") {
  plan::Plan plan = earlyPlan();
  plan::Program &program = *plan.mutable_programs(0);
  SECTION("nothing broken") { CHECK(brokenRule(plan) == ""); }
  SECTION("a buffer whose bytes another one has later") {
    buffer(plan, X).set_last(Barrier);
    program.mutable_arenas(0)->set_peak_bytes(1024 + 4 * 256);
    CHECK_THAT(brokenRule(plan), Contains("it is early, but 'x' is live from 0 to 3, expected 0"));
  }
  SECTION("in a queue that computes") {
    instruction(plan, Load).set_queue(0);
    instruction(plan, Multiply).clear_waits();
    CHECK_THAT(brokenRule(plan), Contains("it is early in queue 0 with 0 waits, expected queue 2"));
  }
  SECTION("in a segment that runs twice") {
    program.add_schedule()->set_slot(1);
    instruction(plan, Load).add_waits(Multiply); // of the run before
    CHECK_THAT(brokenRule(plan), Contains("expected in the segment that a step runs first, once"));
  }
  SECTION("in a segment that does not run first") {
    program.add_segments()->set_name("begin");
    program.mutable_schedule(0)->set_segment(1);
    program.add_schedule();
    CHECK_THAT(brokenRule(plan), Contains("expected in the segment that a step runs first, once"));
  }
  SECTION("in an evaluation") {
    plan::Program &evaluation = *plan.add_programs();
    evaluation = program;
    evaluation.set_kind(plan::Program::EVALUATION);
    CHECK_THAT(brokenRule(plan), Contains("expected in the segment that a step runs first, once"));
  }
  SECTION("a second write of the buffer") {
    instruction(plan, Sum).mutable_collective()->set_recv(0, X);
    CHECK_THAT(brokenRule(plan), Contains("(all-reduce 'sum') writes 'x', too"));
  }
  SECTION("a read in another segment") {
    program.add_segments()->set_name("update");
    plan::Instruction &copy = *program.mutable_segments(1)->add_instructions();
    copy.set_name("late");
    copy.mutable_copy()->set_from(X), copy.mutable_copy()->set_to(Y);
    program.add_schedule()->set_segment(1);
    for (Buffers always : {X, W, Where})
      buffer(plan, always).set_last(Report + 1);
    buffer(plan, Y).set_last(Report + 1), buffer(plan, Loss).set_offset(1792);
    buffer(plan, Where).set_offset(2048);
    program.mutable_arenas(0)->set_bytes(2112);
    program.mutable_arenas(0)->set_peak_bytes(1024 + 5 * 256);
    CHECK_THAT(brokenRule(plan), Contains("(copy 'late') reads 'x' in another segment"));
  }
}
