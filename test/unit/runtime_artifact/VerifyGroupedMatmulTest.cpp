// For every rule of the verifier about grouped products: a valid plan with one violation of it.
#include "runtime/artifact/Access.h"
#include "runtime/artifact/Verify.h"
#include "runtime/artifact/Work.h"
#include "test/unit/runtime_artifact/ValidPlan.h"

#include <catch2/catch.hpp>

using namespace cleave;
using Catch::Matchers::Contains;

namespace {

enum GroupedPlaces : uint32_t { kX, kWeights, kEnds, kFirst, kDy, kProduct, kWeightGrad };
constexpr int kMatmul = kProduct, kWeightsGradient = kProduct + 1; // after a fill of each input

void setStrided(plan::StridedOperand *operand, uint32_t buffer, std::vector<int64_t> strides) {
  operand->set_buffer(buffer);
  operand->mutable_strides()->Assign(strides.begin(), strides.end());
}

void addSixteen(plan::Program &program, const char *name, plan::DType dtype) {
  plan::Arena *arena = program.mutable_arenas(0);
  plan::Buffer *buffer =
      addBuffer(program, name, plan::ACTIVATION, arena->bytes(), {16}, 0, kWeightsGradient, -1);
  buffer->set_dtype(dtype);
  buffer->set_bytes(dtype == plan::I64 ? 128 : 64);
  arena->set_bytes(buffer->offset() + buffer->bytes());
  arena->set_peak_bytes(arena->bytes());
}

// 4 rows of 2 inputs and 3 outputs, 2 of 3 groups, 4 of 8 rows.
plan::GroupedMatmul grouped() {
  plan::GroupedMatmul m;
  m.set_rows(4), m.set_groups(2), m.set_inputs(2), m.set_outputs(3);
  m.set_whole_rows(8), m.set_whole_groups(3);
  setStrided(m.mutable_input(), kX, {2, 1});
  setStrided(m.mutable_weight(), kWeights, {6, 3, 1});
  setStrided(m.mutable_output(), kProduct, {3, 1});
  m.set_ends(kEnds), m.add_first_row(kFirst), m.add_first_group(kFirst);
  return m;
}

plan::Plan validGrouped() {
  plan::Plan plan;
  plan.set_device("cpu");
  plan::Program &program = *plan.add_programs();
  program.add_ranks(0);
  program.add_arenas();
  addSixteen(program, "x", plan::F32), addSixteen(program, "weights", plan::F32);
  addSixteen(program, "ends", plan::I32), addSixteen(program, "first", plan::I64);
  addSixteen(program, "grad", plan::F32);
  addSixteen(program, "result", plan::F32), addSixteen(program, "weight_grad", plan::F32);
  program.add_segments()->set_name("micro");
  for (uint32_t place = 0; place < kProduct; ++place)
    addInstruction(program, "input")->mutable_fill()->set_buffer(place);
  plan::GroupedMatmul m = grouped();
  *addInstruction(program, "forward")->mutable_grouped_matmul() = m;
  m.set_weight_gradient(true);
  m.mutable_weight()->set_buffer(kWeightGrad), m.mutable_output()->set_buffer(kDy);
  *addInstruction(program, "gradient")->mutable_grouped_matmul() = m;
  program.add_schedule();
  return plan;
}

plan::GroupedMatmul &grouped(plan::Plan &plan, int at = kMatmul) {
  return *plan.mutable_programs(0)
              ->mutable_segments(0)
              ->mutable_instructions(at)
              ->mutable_grouped_matmul();
}

} // namespace

TEST_CASE("a valid grouped product and its weight gradient pass") {
  plan::Plan plan = validGrouped();
  CHECK(brokenRule(plan) == "");
  const plan::Program &program = plan.programs(0);
  for (int at : {kMatmul, kWeightsGradient}) {
    const plan::Instruction &instruction = program.segments(0).instructions(at);
    CHECK(artifact::flopsOf(program, instruction) == 2. * 4 * 2 * 3 * 2 / 3); // 2 of 3 groups
    CHECK(artifact::bytesOf({}, program, instruction) == 4 * (4 * 2 + 2 * 2 * 3 + 4 * 3));
  }
}

TEST_CASE("grouped products: sizes agree") {
  plan::Plan plan = validGrouped();
  plan::GroupedMatmul &m = grouped(plan);
  SECTION("a negative size") {
    m.set_inputs(-1);
    CHECK_THAT(brokenRule(plan),
               Contains("needs one non-negative stride") || Contains("has a size of -1"));
  }
  SECTION("more groups than ends") {
    m.set_whole_groups(1);
    CHECK_THAT(brokenRule(plan), Contains("4 rows in 2 groups, and all ranks 8 in 1"));
  }
  SECTION("more rows than all ranks") {
    m.set_whole_rows(3);
    CHECK_THAT(brokenRule(plan), Contains("4 rows in 2 groups, and all ranks 3 in 3"));
  }
  SECTION("more ends than the buffer has") {
    m.set_whole_groups(17);
    CHECK_THAT(brokenRule(plan), Contains("reaches byte 68 of buffer 'ends', which has 64"));
  }
  SECTION("two first rows") {
    m.add_first_row(kFirst);
    CHECK_THAT(brokenRule(plan), Contains("has 2 first rows and 1 first groups"));
  }
}

TEST_CASE("grouped products: operands fit their buffers") {
  plan::Plan plan = validGrouped();
  plan::GroupedMatmul &m = grouped(plan);
  SECTION("a missing stride") {
    m.mutable_weight()->mutable_strides()->RemoveLast();
    CHECK_THAT(brokenRule(plan), Contains("its weight needs one non-negative stride per dim"));
  }
  SECTION("a stride that is too long") {
    m.mutable_weight()->set_strides(0, 12);
    CHECK_THAT(brokenRule(plan), Contains("reaches byte 72 of buffer 'weights', which has 64"));
  }
  SECTION("rows of the result in one place") {
    m.mutable_output()->set_strides(0, 2);
    CHECK_THAT(brokenRule(plan), Contains("its output has several elements in one place"));
  }
  SECTION("a result over an operand") {
    m.mutable_output()->set_buffer(kX);
    CHECK_THAT(brokenRule(plan), Contains("its result 'x' overlaps its input"));
  }
  SECTION("a gradient over an operand") {
    grouped(plan, kWeightsGradient).mutable_weight()->set_buffer(kDy);
    CHECK_THAT(brokenRule(plan), Contains("its result 'grad' overlaps its output"));
  }
  SECTION("ends over the result") {
    plan.mutable_programs(0)->mutable_buffers(kProduct)->set_dtype(plan::I32);
    m.set_ends(kProduct);
    CHECK_THAT(brokenRule(plan), Contains("multiplies"));
  }
  SECTION("ends that are floats") {
    m.set_ends(kDy);
    CHECK_THAT(brokenRule(plan), Contains("its ends 'grad' are f32, expected i32 or i64"));
  }
  SECTION("a first row of another type") {
    m.set_first_row(0, kEnds);
    CHECK_THAT(brokenRule(plan), Contains("'ends' is not an i64 scalar"));
  }
  SECTION("factors of two types") {
    plan.mutable_programs(0)->mutable_buffers(kWeights)->set_dtype(plan::I32);
    CHECK_THAT(brokenRule(plan), Contains("it multiplies 'x', f32, by 'weights', i32"));
  }
}

TEST_CASE("grouped products: the work is bounded by the buffers, and is of CPUs") {
  plan::Plan plan = validGrouped();
  SECTION("one product many times") {
    plan::GroupedMatmul &m = grouped(plan);
    m.mutable_input()->set_strides(1, 0), m.mutable_weight()->set_strides(1, 0);
    CHECK_THAT(brokenRule(plan), Contains("adds up 2 times the same product"));
  }
  SECTION("one row many times") {
    plan::GroupedMatmul &m = grouped(plan, kWeightsGradient);
    m.mutable_input()->set_strides(0, 0), m.mutable_output()->set_strides(0, 0);
    CHECK_THAT(brokenRule(plan), Contains("adds up 4 times the same product"));
  }
  SECTION("a plan for GPUs") {
    plan.set_device("cuda");
    plan::Program &program = *plan.mutable_programs(0);
    for (int i = 0; i < program.buffers_size(); ++i)
      program.mutable_buffers(i)->set_offset(uint64_t(i) * 256);
    program.mutable_arenas(0)->set_bytes(uint64_t(program.buffers_size()) * 256);
    program.mutable_arenas(0)->set_peak_bytes(program.arenas(0).bytes());
    CHECK_THAT(brokenRule(plan), Contains("it is for CPUs, the plan for cuda"));
  }
}
