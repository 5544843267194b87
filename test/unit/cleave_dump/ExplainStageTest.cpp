// --explain stage:N on two stages of a layer each.
#include "SmallPlan.h"
#include "tools/cleave-dump/Views.h"

#include <catch2/catch.hpp>

using namespace cleave;
using Catch::Matchers::Contains;

// Stage 0 has the layer h.0, which takes 3 us, and stage 1 the layer h.1, which takes 7 us.
static plan::Plan twoStages() {
  plan::Plan plan = smallPlan();
  plan::Program whole = plan.programs(0);
  plan.clear_programs();
  whole.mutable_segments(0)->set_name("forward");
  whole.mutable_segments(1)->set_name("backward");
  for (int stage : {0, 1}) {
    plan::Program &program = *plan.add_programs() = whole;
    program.clear_ranks();
    program.add_ranks(uint32_t(2 * stage)), program.add_ranks(uint32_t(2 * stage + 1));
    for (int part : {0, 1}) {
      const int kept = part == 0 ? 1 + stage : stage;
      plan::Segment &segment = *program.mutable_segments(part);
      *segment.mutable_instructions(0) = whole.segments(part).instructions(kept);
      segment.mutable_instructions()->DeleteSubrange(1, segment.instructions_size() - 1);
    }
  }
  plan.mutable_programs(1)->mutable_segments(0)->mutable_instructions(0)->set_seconds(6e-6);
  plan::Segment &send = *plan.mutable_programs(0)->add_segments();
  send.set_name("send forward");
  plan::Instruction &message = *send.add_instructions();
  message.set_seconds(1e-6);
  message.mutable_collective()->set_kind(plan::Collective::SEND);
  message.mutable_collective()->add_send(4);
  return plan;
}

TEST_CASE("a stage is explained by its layers, its time, and other places of its borders") {
  const plan::Plan plan = twoStages();
  const Result<std::string> text = dump::explain(plan, "stage:0");
  REQUIRE(text);
  CHECK_THAT(*text, Contains("stage 0 of 2, on ranks 0-1\n  h.0\n") &&
                        Contains("3.00 us per micro-batch, 2.00 us of it forward; the slowest, "
                                 "stage 1, takes 7.00 us; the mean is 5.00 us") &&
                        Contains("with up to 2 of 2 micro-batches in flight") &&
                        Contains("from stage 0 to stage 1: 1 value, 256 B in 1.00 us"));
  for (const char *row : {"now         3.00 us  7.00 us        7.00 us",
                          "before h.0      0 s  10.0 us        10.0 us",
                          "after h.1   10.0 us      0 s        10.0 us"})
    CHECK_THAT(*text, Contains(row));
  CHECK_THAT(*dump::explain(plan, "stage:1"), Contains("this is the slowest stage"));
}

TEST_CASE("a layer on both sides of a border is divided") {
  plan::Plan plan = twoStages();
  plan::Segment &forward = *plan.mutable_programs(0)->mutable_segments(0);
  *forward.add_instructions() = plan.programs(1).segments(0).instructions(0);
  const Result<std::string> text = dump::explain(plan, "stage:0");
  REQUIRE(text);
  CHECK_THAT(*text, Contains("  h.{0,1}\n") && Contains("before h.1, which it divides  3.00 us") &&
                        Contains("after h.1"));
}

TEST_CASE("stages that a plan does not have are not explained") {
  CHECK_THAT(dump::explain(twoStages(), "stage:2").status().message(),
             Contains("expected a stage from 0 to 1"));
  CHECK_THAT(dump::explain(twoStages(), "stage:x").status().message(),
             Contains("expected a stage from 0 to 1"));
  CHECK_THAT(dump::explain(smallPlan(), "stage:0").status().message(),
             Contains("the plan has no stages"));
}

TEST_CASE("stages of a damaged plan are explained as far as they can be") {
  plan::Plan plan = twoStages();
  plan.mutable_programs(0)->mutable_schedule(0)->set_segment(99);
  plan.mutable_programs(0)
      ->mutable_segments(2)
      ->mutable_instructions(0)
      ->mutable_collective()
      ->set_send(0, 999);
  plan.mutable_programs(1)
      ->mutable_segments(0)
      ->mutable_instructions(0)
      ->mutable_matmul()
      ->mutable_rhs()
      ->set_buffer(999);
  plan.mutable_programs(1)->clear_arenas();
  for (const char *stage : {"stage:0", "stage:1"})
    CHECK(dump::explain(plan, stage));
}
