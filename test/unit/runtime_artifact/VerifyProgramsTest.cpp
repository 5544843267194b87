// The rules on several programs of one rank: a valid plan with an evaluation, and violations.
#include "runtime/artifact/Programs.h"
#include "test/unit/runtime_artifact/ValidPlan.h"

#include <catch2/catch.hpp>

using namespace cleave;
using Catch::Matchers::Contains;

// The valid plan with an evaluation of one instruction: it fills `loss`.
static plan::Plan evaluatedPlan() {
  plan::Plan plan = validPlan();
  plan::Program &evaluation = *plan.add_programs();
  evaluation = plan.programs(0);
  evaluation.set_kind(plan::Program::EVALUATION);
  for (plan::Buffer &each : *evaluation.mutable_buffers())
    each.set_first(0), each.set_last(0);
  evaluation.mutable_buffers()->DeleteSubrange(Y, 2); // y and z; loss is in the memory of y
  evaluation.mutable_arenas(0)->set_peak_bytes(256 + 1024 + 64 + 64);
  evaluation.clear_segments();
  evaluation.add_segments()->add_instructions()->mutable_fill()->set_buffer(Y); // loss
  return plan;
}

TEST_CASE("programs: an evaluation beside the step passes") {
  CHECK(brokenRule(evaluatedPlan()) == "");
}

TEST_CASE("programs: all ranks or none run an evaluation") {
  plan::Plan plan = evaluatedPlan();
  plan.mutable_programs(1)->mutable_ranks()->RemoveLast();
  CHECK_THAT(brokenRule(plan), Contains("lists an evaluation for 1 ranks, its mesh has 2"));
}

TEST_CASE("programs: an evaluation writes nothing that outlives it") {
  plan::Plan plan = evaluatedPlan();
  instruction(plan, 0, 1).mutable_fill()->set_buffer(W);
  CHECK_THAT(brokenRule(plan), Contains("an evaluation may only read"));
}

TEST_CASE("programs: an evaluation reads nothing that a step has left") {
  plan::Plan plan = evaluatedPlan();
  plan::Metric &metric = *instruction(plan, 0, 1).mutable_metric();
  metric.set_name("loss.sum"), metric.set_buffer(Y);
  CHECK_THAT(brokenRule(plan), Contains("reads buffer 'loss' before anything writes it"));
}

TEST_CASE("programs: a parameter is the same bytes in all programs of a rank") {
  plan::Plan plan = evaluatedPlan();
  plan::Program &evaluation = *plan.mutable_programs(1);
  SECTION("at another place") {
    evaluation.mutable_buffers(X)->set_offset(1024);
    evaluation.mutable_buffers(W)->set_offset(0);
    CHECK_THAT(brokenRule(plan), Contains("rank 0, program 'step'") &&
                                     Contains("buffer 'w' is not the same bytes as buffer 'w'"));
  }
  SECTION("left out, so that another buffer could overwrite it") {
    evaluation.mutable_buffers()->RemoveLast(); // the coordinates
    evaluation.mutable_arenas(0)->set_bytes(1344);
    evaluation.mutable_arenas(0)->set_peak_bytes(256 + 1024 + 64);
    CHECK_THAT(brokenRule(plan), Contains("has 1 buffers that outlive it, the step has 2"));
  }
  SECTION("in another space") {
    evaluation.add_arenas()->set_space(plan::HOST);
    CHECK_THAT(brokenRule(plan), Contains("its arenas are not in the spaces of those of the step"));
  }
}

TEST_CASE("the arenas of a rank are those of its largest program") {
  plan::Plan plan = evaluatedPlan();
  plan.mutable_programs(1)->mutable_arenas(0)->set_bytes(4096);
  const std::vector<plan::Arena> arenas = artifact::arenasOf(plan, 1);
  REQUIRE(arenas.size() == 1);
  CHECK(arenas[0].bytes() == 4096);
  CHECK(arenas[0].peak_bytes() == plan.programs(0).arenas(0).peak_bytes());
}

TEST_CASE("of equal blocks, checkpoints hold that of the lowest rank that stores it") {
  plan::Plan plan = twoPrograms();
  const uint32_t x = 0, w = 1; // x is split over the ranks
  CHECK(artifact::firstWithBlock(plan, x, 1) == 1);
  CHECK(artifact::firstWithBlock(plan, w, 1) == 0);
  plan.mutable_programs(0)->mutable_buffers(W)->set_tensor(-1);
  CHECK(artifact::firstWithBlock(plan, w, 1) == 1);
}

TEST_CASE("a rank's programs are found by their kind") {
  plan::Plan plan = twoPrograms();
  CHECK(&artifact::stepOf(plan, 0) == &plan.programs(0));
  CHECK(&artifact::stepOf(plan, 1) == &plan.programs(1));
  CHECK(artifact::findProgram(plan, plan::Program::STEP, 2) == nullptr);
  CHECK(artifact::findProgram(plan, plan::Program::EVALUATION, 0) == nullptr);
  CHECK_FALSE(artifact::hasEvaluation(plan));
  CHECK(artifact::hasEvaluation(evaluatedPlan()));
}

TEST_CASE("programs: the link of an arena answers within a second") {
  plan::Plan plan = validPlan();
  plan.mutable_programs(0)->mutable_arenas(0)->set_latency_seconds(GENERATE(-1., 3600.));
  CHECK_THAT(brokenRule(plan), Contains("expected 0 to 1 s"));
}
