// The verifier's rule of queues: the valid plan with one violation of it.
#include "runtime/artifact/Verify.h"
#include "test/unit/runtime_artifact/ValidPlan.h"

#include <catch2/catch.hpp>

using namespace cleave;
using Catch::Matchers::Contains;

TEST_CASE("queues: instructions that access common bytes are ordered by waits") {
  plan::Plan plan = validPlan();
  SECTION("a collective that does not wait for what it sends") {
    instruction(plan, Sum).clear_waits();
    CHECK_THAT(brokenRule(plan),
               Contains("instruction 2 (all-reduce 'sum'): it accesses 'y' without a wait for rank "
                        "0, segment 'micro', instruction 1 (matmul 'product'), which writes the "
                        "same bytes"));
  }
  SECTION("a kernel that does not wait for what it reads") {
    instruction(plan, Reduce).clear_waits();
    CHECK_THAT(brokenRule(plan),
               Contains("instruction 4 (launch 'loss'): it accesses 'z' without"));
  }
  SECTION("a buffer that takes the bytes of what is still being sent") {
    instruction(plan, Reduce).clear_waits();
    instruction(plan, Reduce).mutable_fill()->set_buffer(Loss);
    CHECK_THAT(brokenRule(plan), Contains("it accesses 'loss' without a wait for") &&
                                     Contains("all-reduce 'sum'), which reads the same bytes"));
  }
  SECTION("another queue than that of the predecessor") {
    instruction(plan, Multiply).set_queue(3);
    CHECK_THAT(brokenRule(plan), Contains("it accesses 'x' without a wait for") &&
                                     Contains("load input 'x'), which writes the same bytes"));
  }
  SECTION("a wait that others imply may be left out") {
    instruction(plan, Report).set_queue(3);
    instruction(plan, Report).add_waits(Reduce);
    CHECK(brokenRule(plan) == "");
  }
  SECTION("a wait for an instruction that does not exist") {
    instruction(plan, Sum).add_waits(99);
    CHECK_THAT(brokenRule(plan), Contains("it waits for instruction 99 of 6"));
  }
  SECTION("a wait for an instruction of its own queue") {
    instruction(plan, Barrier).add_waits(Sum);
    CHECK_THAT(brokenRule(plan), Contains("it waits for instruction 2 of its own queue"));
  }
  SECTION("a queue that does not exist") {
    instruction(plan, Report).set_queue(5);
    CHECK_THAT(brokenRule(plan), Contains("it is in queue 5, expected one below 5"));
  }
  SECTION("on CPUs, something else than a copy between spaces in the queue of these copies") {
    instruction(plan, Report).set_queue(2), instruction(plan, Report).add_waits(Reduce);
    CHECK_THAT(brokenRule(plan), Contains("it is in queue 2, in which CPUs only copy between"));
  }
  SECTION("collectives in two queues") {
    instruction(plan, Barrier).set_queue(0);
    CHECK_THAT(brokenRule(plan),
               Contains("it communicates in queue 0, other collectives in queue"));
  }
}

TEST_CASE("queues: sends are in one queue, and receives in one") {
  plan::Plan plan = exchange(/*reversed=*/true);
  auto queue = [&](int rank, int which, uint32_t to) {
    instruction(plan, which, rank).set_queue(to);
  };
  CHECK(brokenRule(plan) == "");
  for (int rank : {0, 1}) {
    queue(rank, rank == 0 ? Sum : Barrier, 3);
    queue(rank, rank == 0 ? Barrier : Sum, 4);
  }
  // The reader of z waits for the last call of the list, and the send of y is before its next
  // write.
  instruction(plan, Barrier, 1).add_waits(Multiply);
  instruction(plan, Reduce, 1).clear_waits(), instruction(plan, Reduce, 1).add_waits(Sum);
  CHECK_THAT(brokenRule(plan), Contains("it accesses 'loss' without a wait for"));
  for (int rank : {0, 1})
    instruction(plan, Reduce, rank).clear_waits(), instruction(plan, Reduce, rank).add_waits(Sum),
        instruction(plan, Reduce, rank).add_waits(Barrier);
  instruction(plan, Sum, 1).clear_waits();
  CHECK(brokenRule(plan) == "");
  plan::Instruction &second = instruction(plan, Report);
  *second.mutable_collective() = instruction(plan, Sum).collective();
  second.mutable_collective()->set_send(0, Loss);
  second.set_queue(1), second.add_waits(Reduce);
  CHECK_THAT(brokenRule(plan), Contains("it communicates in queue 1, other sends in queue 3"));
}

TEST_CASE("queues: a run is ordered with the runs before") {
  plan::Plan plan = validPlan();
  SECTION("a wait for a later instruction, which is for its run before") {
    instruction(plan, Sum).add_waits(Reduce);
    CHECK_THAT(brokenRule(plan), Contains("instruction 2 (all-reduce 'sum'): it waits for "
                                          "instruction 4, which never runs before it"));
    plan.mutable_programs(0)->add_schedule()->set_slot(1);
    CHECK(brokenRule(plan) == "");
  }
  SECTION("a run that overtakes the run before") {
    plan.mutable_programs(0)->add_schedule()->set_slot(1);
    CHECK(brokenRule(plan) == "");
    instruction(plan, Report).set_queue(3), instruction(plan, Report).add_waits(Reduce);
    CHECK_THAT(brokenRule(plan),
               Contains("instruction 1 (matmul 'product'): it accesses 'y' without a wait for") &&
                   Contains("(metric 'loss'), which reads the same bytes"));
    instruction(plan, Multiply).add_waits(Report);
    CHECK(brokenRule(plan) == "");
  }
  SECTION("a segment that overtakes the one before") {
    plan::Program &program = *plan.mutable_programs(0);
    plan::Instruction &fill = *program.add_segments()->add_instructions();
    fill.mutable_fill()->set_buffer(Z), fill.set_queue(3);
    for (plan::Buffer &each : *program.mutable_buffers())
      if (each.last() == Report)
        each.set_last(Report + 1);
    buffer(plan, Z).set_last(Report + 1);
    program.add_schedule()->set_segment(1);
    CHECK_THAT(brokenRule(plan), Contains("it accesses 'z' without a wait for") &&
                                     Contains("all-reduce 'sum'), which writes the same bytes"));
    fill.add_waits(Reduce);
    CHECK(brokenRule(plan) == "");
  }
  SECTION("a segment that waited for an earlier run of one that ran again since") {
    plan::Program &program = *plan.mutable_programs(0);
    const uint32_t before = Report + 1, after = Report + 2;
    program.add_segments()->add_instructions()->mutable_fill()->set_buffer(Loss);
    plan::Instruction &fill = *program.add_segments()->add_instructions();
    fill.mutable_fill()->set_buffer(Z), fill.set_queue(3), fill.add_waits(before);
    for (plan::Buffer &each : *program.mutable_buffers())
      if (each.last() == Report)
        each.set_last(after);
    buffer(plan, Z).set_last(after);
    for (uint32_t slot : {0, 1})
      for (uint32_t segment : {1, 2}) {
        plan::ScheduleStep &step = *program.add_schedule();
        step.set_segment(segment), step.set_slot(slot);
      }
    CHECK(brokenRule(plan) == "");
    fill.clear_waits();
    CHECK_THAT(brokenRule(plan), Contains("it accesses 'z' without a wait for"));
  }
}
