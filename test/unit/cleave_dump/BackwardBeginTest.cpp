// Where the backward pass begins in a program.
#include "SmallPlan.h"

#include "tools/cleave-dump/BackwardBegin.h"

#include <catch2/catch.hpp>

using namespace cleave;

// Adds a product that nothing reads to the segment of the micro-batches.
static void addProduct(plan::Program &program) {
  plan::Segment &micro = *program.mutable_segments(0);
  *micro.add_instructions() = micro.instructions(1);
  plan::Matmul &product = *micro.mutable_instructions()->rbegin()->mutable_matmul();
  product.mutable_out()->set_buffer(uint32_t(program.buffers_size()));
  *program.add_buffers() = program.buffers(4);
}

TEST_CASE("the backward pass begins with the first computation that the loss does not need") {
  plan::Plan plan = smallPlan();
  plan::Program &program = *plan.mutable_programs(0);
  CHECK(dump::backwardBegin(program) == std::nullopt); // the update is not part of it
  const int last = program.segments(0).instructions_size();
  addProduct(program);
  addProduct(program);
  CHECK(dump::backwardBegin(program) == size_t(last));
}

TEST_CASE("what the forward pass computes beside the loss is not part of the backward pass") {
  plan::Plan plan = smallPlan();
  plan::Program &program = *plan.mutable_programs(0);
  addProduct(program);
  auto &instructions = *program.mutable_segments(0)->mutable_instructions();
  for (int i = instructions.size() - 1; i > 2; --i)
    instructions.SwapElements(i, i - 1); // before the second product of the loss
  CHECK(dump::backwardBegin(program) == std::nullopt);
}

TEST_CASE("the loss needs what a kernel changes in place, although another result of it is read") {
  plan::Plan plan = smallPlan();
  plan::Program &program = *plan.mutable_programs(0);
  plan::Instruction both; // adds to the result of the first product, and writes the second one's
  both.mutable_launch()->add_buffers(4), both.mutable_launch()->add_buffers(5);
  both.mutable_launch()->add_written(0), both.mutable_launch()->add_written(1);
  *program.mutable_segments(0)->mutable_instructions(2) = both;
  CHECK(dump::neededByLoss(program) ==
        std::vector<bool>{true, true, true, true, false, true, false, false, false});
}

TEST_CASE("a program without a loss has no backward pass") {
  plan::Plan plan = smallPlan();
  plan::Program &program = *plan.mutable_programs(0);
  addProduct(program);
  program.mutable_segments(0)->mutable_instructions(6)->mutable_metric()->set_name("accuracy");
  CHECK(dump::backwardBegin(program) == std::nullopt);
}
