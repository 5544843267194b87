// The verifier on the signatures of kernels, on the amount of work, on biases, and on numbers out
// of range: the valid plan with one violation.
#include "runtime/artifact/Verify.h"
#include "test/unit/runtime_artifact/ValidPlan.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace cleave;
using Catch::Matchers::Contains;

static plan::Kernel &kernel(plan::Plan &plan) {
  return *plan.mutable_programs(0)->mutable_kernels(0);
}

TEST_CASE("kernels: the symbol carries the signature") {
  plan::Plan plan = validPlan();
  CHECK(artifact::signatureOf(kernel(plan), plan.mesh()) == "extent 1; f32 256; f32 4 written");
  SECTION("another extent") { kernel(plan).set_extent(2); }
  SECTION("another dtype") { kernel(plan).mutable_parameters(0)->set_dtype(plan::I32); }
  SECTION("fewer bytes") { kernel(plan).mutable_parameters(0)->set_bytes(128); }
  SECTION("a written operand") { kernel(plan).mutable_parameters(0)->set_written(true); }
  SECTION("swapped parameters") { kernel(plan).mutable_parameters()->SwapElements(0, 1); }
  SECTION("another symbol") { kernel(plan).set_symbol("sum.0123456789abcdef"); }
  SECTION("no hash") { kernel(plan).set_symbol("sum"); }
  CHECK_THAT(brokenRule(plan), Contains("does not belong to its signature: extent "));
}

TEST_CASE("kernels: instances have as many parameters each") {
  plan::Plan plan = validPlan();
  kernel(plan).set_instances(1);
  CHECK(artifact::verifyPlan(plan).isOk());
  kernel(plan).set_instances(3);
  CHECK_THAT(brokenRule(plan), Contains("its 2 parameters cannot be divided among 3 instances"));
}

TEST_CASE("kernels: coordinates belong to one mesh") {
  plan::Plan plan = validPlan();
  kernel(plan).mutable_parameters(0)->set_coordinates(true);
  std::string symbol = artifact::symbolOf("sum", kernel(plan), plan.mesh());
  plan.mutable_mesh(0)->set_size(1);
  plan.add_mesh()->set_size(2);
  CHECK(symbol != artifact::symbolOf("sum", kernel(plan), plan.mesh()));
}

TEST_CASE("instructions: a launch fits the signature of its kernel") {
  plan::Plan plan = validPlan();
  plan::Launch &launch = *instruction(plan, Reduce).mutable_launch();
  SECTION("a buffer that is too small") {
    launch.set_buffers(0, Where), buffer(plan, Where).set_dtype(plan::F32);
    buffer(plan, Where).set_role(plan::ACTIVATION);
    CHECK_THAT(brokenRule(plan), Contains("8 bytes of f32; its kernel needs 256 of f32"));
  }
  SECTION("a buffer of another dtype") {
    kernel(plan).mutable_parameters(0)->set_dtype(plan::I32), rename(plan);
    CHECK_THAT(brokenRule(plan), Contains("256 bytes of f32; its kernel needs 256 of i32"));
  }
  SECTION("swapped buffers") {
    launch.mutable_buffers()->SwapElements(0, 1);
    CHECK_THAT(brokenRule(plan), Contains("its operand 0 is 'loss'"));
  }
  SECTION("a buffer too few") {
    launch.mutable_buffers()->RemoveLast();
    launch.clear_written();
    CHECK_THAT(brokenRule(plan), Contains("has 1 operands, its kernel 2 parameters"));
  }
  SECTION("a written buffer that is not declared") {
    launch.clear_written();
    CHECK_THAT(brokenRule(plan), Contains("says that operand 1 is not written"));
  }
  SECTION("a buffer that is read and written") {
    kernel(plan).mutable_parameters(1)->set_bytes(256), rename(plan);
    launch.set_buffers(1, Z);
    CHECK_THAT(brokenRule(plan), Contains("writes 'z' and has it as another operand, too"));
  }
  SECTION("coordinates that are something else") {
    kernel(plan).mutable_parameters(0)->set_coordinates(true), rename(plan);
    CHECK_THAT(brokenRule(plan), Contains("'z' of role ACTIVATION; its kernel needs the coord"));
  }
}

TEST_CASE("instructions: the work is bounded by the buffers") {
  plan::Plan plan = validPlan();
  plan::Matmul &matmul = *instruction(plan, Multiply).mutable_matmul();
  SECTION("many batches of one product") {
    matmul.add_batch(int64_t(1) << 40);
    for (auto *operand : {matmul.mutable_lhs(), matmul.mutable_rhs(), matmul.mutable_out()}) {
      operand->add_strides(1);
      operand->set_strides(1, operand->strides(0)), operand->set_strides(0, 0);
    }
    CHECK_THAT(brokenRule(plan), Contains("it computes 70368744177664 elements, its out 'y' has"));
  }
  SECTION("a long sum of one product") {
    matmul.set_k(int64_t(1) << 40);
    matmul.mutable_lhs()->set_strides(1, 0), matmul.mutable_rhs()->set_strides(0, 0);
    CHECK_THAT(brokenRule(plan), Contains("adds up 1099511627776 times the same product"));
  }
  SECTION("a result whose elements overlap") {
    matmul.mutable_out()->set_strides(0, 15);
    CHECK_THAT(brokenRule(plan), Contains("'y' has several elements in one place"));
  }
  SECTION("a segment twice for one micro-batch") {
    plan.mutable_programs(0)->add_schedule();
    CHECK_THAT(brokenRule(plan), Contains("schedules segment 0 twice for micro-batch 0"));
  }
  SECTION("a micro-batch far behind the others") {
    plan.mutable_programs(0)->mutable_schedule(0)->set_slot(1 << 30);
    CHECK_THAT(brokenRule(plan), Contains("micro-batch 1073741824 in a schedule of 1 steps"));
  }
}

TEST_CASE("placement: an arena ends with its last buffer") {
  plan::Plan plan = validPlan();
  plan::Arena &arena = *plan.mutable_programs(0)->mutable_arenas(0);
  for (uint64_t bytes : {std::numeric_limits<uint64_t>::max(), uint64_t(1857)}) {
    arena.set_bytes(bytes);
    CHECK_THAT(brokenRule(plan), Contains("its buffers end at byte 1800"));
  }
}

TEST_CASE("numbers of enumerations must exist") {
  plan::Plan plan = validPlan();
  SECTION("a space") {
    plan.mutable_programs(0)->mutable_arenas(0)->set_space(plan::Space(7));
    CHECK_THAT(brokenRule(plan), Contains("space 7, which does not exist"));
  }
  SECTION("a role") {
    buffer(plan, Y).set_role(plan::Role(99));
    CHECK_THAT(brokenRule(plan), Contains("role 99 does not exist"));
  }
  SECTION("a reduction") {
    instruction(plan, Sum).mutable_collective()->set_reduce(plan::Reduce(99));
    CHECK_THAT(brokenRule(plan), Contains("reduction 99 does not exist"));
  }
  SECTION("a distribution") {
    plan::RandomValues &random = *plan.mutable_tensors(1)->mutable_source()->mutable_random();
    random.set_distribution(plan::RandomValues::Distribution(5));
    CHECK_THAT(brokenRule(plan), Contains("distribution 5 does not exist"));
  }
  SECTION("the dtype of a file") {
    plan::FileSlice &file = *plan.mutable_tensors(1)->mutable_source()->mutable_file();
    file.set_dtype(plan::DType(77));
    CHECK_THAT(brokenRule(plan), Contains("stored dtype 77 does not exist"));
  }
}

TEST_CASE("files of weights lie in the model's folder") {
  plan::Plan plan = validPlan();
  plan::FileSlice &file = *plan.mutable_tensors(1)->mutable_source()->mutable_file();
  file.set_dtype(plan::F32), file.set_bytes(1024);
  for (const char *path : {"", "w.bin", "a/b/w.bin", "..w", "a..b"}) {
    file.set_path(path);
    CHECK(brokenRule(plan) == "");
  }
  for (const char *path : {"/etc/passwd", "..", "../w.bin", "a/../../w.bin", "a/.."}) {
    file.set_path(path);
    CHECK_THAT(brokenRule(plan), Contains("lies outside of the model's folder"));
  }
}

TEST_CASE("costs are numbers of at least 0") {
  for (double value : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    plan::Plan seconds = validPlan(), predicted = validPlan(), flops = validPlan();
    instruction(seconds, Load).set_seconds(value);
    CHECK_THAT(brokenRule(seconds), Contains("is predicted to take"));
    predicted.mutable_predicted()->set_step_seconds(value);
    CHECK_THAT(brokenRule(predicted), Contains("step_seconds is"));
    kernel(flops).set_flops(value);
    CHECK_THAT(brokenRule(flops), Contains("its cost is"));
  }
}

TEST_CASE("instructions: a bias has an element of the result's type for each of its columns") {
  plan::Plan plan = validPlan();
  plan::Matmul &matmul = *instruction(plan, Multiply).mutable_matmul();
  plan::Program &program = *plan.mutable_programs(0);
  addBuffer(program, "b", plan::ACTIVATION, 2048, {16}, Multiply, Multiply, -1);
  plan::Buffer &bias = *program.mutable_buffers(program.buffers_size() - 1);
  program.mutable_arenas(0)->set_bytes(2112), program.mutable_arenas(0)->set_peak_bytes(1664);
  const uint32_t number = uint32_t(program.buffers_size() - 1);
  matmul.add_bias(W);
  SECTION("nothing broken") { CHECK(brokenRule(plan) == ""); }
  SECTION("two of them") {
    matmul.add_bias(W);
    CHECK_THAT(brokenRule(plan), Contains("it has 2 biases, expected at most one"));
  }
  SECTION("too few elements") {
    matmul.set_bias(0, Loss);
    CHECK_THAT(brokenRule(plan), Contains("reaches byte 64 of buffer 'loss', which has 4"));
  }
  SECTION("another dtype") {
    bias.set_dtype(plan::I32), matmul.set_bias(0, number);
    CHECK_THAT(brokenRule(plan), Contains("its bias 'b' is i32, expected f32 as its out 'y'"));
  }
  SECTION("never written") {
    matmul.set_bias(0, number);
    CHECK_THAT(brokenRule(plan), Contains("it reads buffer 'b' before anything writes it"));
  }
  SECTION("the result itself") {
    matmul.set_bias(0, Y);
    CHECK_THAT(brokenRule(plan), Contains("its out 'y' overlaps its operand 'y'"));
  }
  SECTION("columns apart") {
    matmul.mutable_out()->set_strides(0, 1), matmul.mutable_out()->set_strides(1, 4);
    CHECK_THAT(brokenRule(plan),
               Contains("the columns of its out 'y' are 4 elements apart, expected 1"));
  }
}

TEST_CASE("a plan is not planned to be faster than its bound") {
  plan::Plan plan = validPlan();
  plan.mutable_predicted()->set_planned_seconds(0.003);
  plan.mutable_predicted()->set_bound_seconds(0.003);
  CHECK(brokenRule(plan) == "");
  plan.mutable_predicted()->set_bound_seconds(0.004);
  CHECK_THAT(brokenRule(plan), Contains("no plan takes less than 0.004 seconds, and this one is"));
}
