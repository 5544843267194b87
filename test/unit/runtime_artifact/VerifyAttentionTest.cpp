// For every rule of the verifier about attention: a valid plan with one violation of it.
#include "runtime/artifact/Verify.h"
#include "runtime/base/AttentionScratch.h"
#include "test/unit/runtime_artifact/ValidPlan.h"

#include <catch2/catch.hpp>

using namespace cleave;
using Catch::Matchers::Contains;

namespace {

enum Places : uint32_t {
  kQuery,
  kKey,
  kValue,
  kBias,
  kMask,
  kGrad,
  kSeed,
  kResult,
  kLse,
  kQueryGrad,
  kKeyGrad,
  kValueGrad,
  kScratch
};
constexpr int kInputs = kResult; // filled by the first instructions
constexpr int kForward = kInputs, kGradient = kInputs + 1;

void setOperand(plan::StridedOperand *operand, uint32_t buffer, std::vector<int64_t> strides) {
  operand->set_buffer(buffer);
  operand->mutable_strides()->Assign(strides.begin(), strides.end());
}

void addPlace(plan::Program &program, const char *name, plan::DType dtype,
              std::vector<int64_t> shape) {
  plan::Arena *arena = program.mutable_arenas(0);
  plan::Buffer *buffer =
      addBuffer(program, name, plan::ACTIVATION, arena->bytes(), shape, 0, kGradient, -1);
  buffer->set_dtype(dtype);
  buffer->set_bytes(buffer->bytes() / 4 * (dtype == plan::I64 ? 8 : dtype == plan::BOOL ? 1 : 4));
  arena->set_bytes(buffer->offset() + (buffer->bytes() + 63) / 64 * 64);
  arena->set_peak_bytes(arena->bytes());
}

// Two heads of 8 columns in one group, 4 queries and 128 keys.
plan::Attention forwardAttention() {
  plan::Attention a;
  a.set_heads(2), a.set_groups(1), a.set_queries(4), a.set_keys(128);
  a.set_width(8), a.set_depth(8), a.set_scale(1), a.set_drop_rate(0.5), a.add_seed(kSeed);
  setOperand(a.mutable_query(), kQuery, {8, 16, 1});
  setOperand(a.mutable_key(), kKey, {0, 8, 1});
  setOperand(a.mutable_value(), kValue, {0, 8, 1});
  setOperand(a.mutable_bias(), kBias, {0, 0, 1});
  setOperand(a.mutable_mask(), kMask, {0, 0, 1});
  setOperand(a.mutable_result(), kResult, {8, 16, 1});
  setOperand(a.mutable_lse(), kLse, {4, 1});
  return a;
}

// A plan of one rank: inputs, an attention of them, and its gradient.
plan::Plan validAttention() {
  plan::Plan plan;
  plan.set_device("cpu");
  plan::Program &program = *plan.add_programs();
  program.add_ranks(0);
  program.add_arenas();
  for (const char *name : {"query", "key", "value", "bias", "mask", "grad", "seed"})
    addPlace(program, name,
             name == std::string("mask")   ? plan::BOOL
             : name == std::string("seed") ? plan::I64
                                           : plan::F32,
             {name == std::string("seed") ? 1 : 1024});
  for (const char *name : {"result", "lse", "query_grad", "key_grad", "value_grad", "scratch"})
    addPlace(program, name, plan::F32, {1024});
  program.add_segments()->set_name("micro");
  for (uint32_t place = 0; place < kInputs; ++place)
    addInstruction(program, "input")->mutable_fill()->set_buffer(place);
  plan::Attention attention = forwardAttention();
  *addInstruction(program, "forward")->mutable_attention() = attention;
  setOperand(attention.mutable_grad(), kGrad, {8, 16, 1});
  setOperand(attention.mutable_query_grad(), kQueryGrad, {8, 16, 1});
  setOperand(attention.mutable_key_grad(), kKeyGrad, {1024, 8, 1});
  setOperand(attention.mutable_value_grad(), kValueGrad, {1024, 8, 1});
  attention.add_scratch(kScratch);
  *addInstruction(program, "gradient")->mutable_attention() = attention;
  program.add_schedule();
  return plan;
}

plan::Attention &attention(plan::Plan &plan, int at = kForward) {
  return *plan.mutable_programs(0)
              ->mutable_segments(0)
              ->mutable_instructions(at)
              ->mutable_attention();
}

} // namespace

TEST_CASE("a valid attention and its gradient pass") { CHECK(brokenRule(validAttention()) == ""); }

TEST_CASE("attention: sizes are positive, bounded, and agree") {
  plan::Plan plan = validAttention();
  plan::Attention &a = attention(plan);
  SECTION("no keys") {
    a.set_keys(0);
    CHECK_THAT(brokenRule(plan), Contains("has a size of 0"));
  }
  SECTION("heads in uneven groups") {
    a.set_groups(3);
    CHECK_THAT(brokenRule(plan), Contains("2 heads in 3 groups"));
  }
  SECTION("rows too wide for the kernel") {
    a.set_width(257), a.mutable_query()->set_strides(2, 0), a.mutable_key()->set_strides(2, 0);
    CHECK_THAT(brokenRule(plan), Contains("257 columns, expected at most 256"));
  }
  SECTION("whole scores of another rank") {
    a.add_whole(4);
    CHECK_THAT(brokenRule(plan), Contains("whole scores have 1 dims, expected 3"));
  }
  SECTION("an offset without dim") {
    a.add_offsets(kSeed);
    CHECK_THAT(brokenRule(plan), Contains("1 offsets in 0 dims"));
  }
  SECTION("an offset of keys") {
    a.add_offsets(kSeed), a.add_offset_dims(2);
    CHECK_THAT(brokenRule(plan), Contains("an offset in dim 2"));
  }
}

TEST_CASE("attention: numbers make sense") {
  plan::Plan plan = validAttention();
  plan::Attention &a = attention(plan);
  SECTION("a scale that is no number") {
    a.set_scale(std::numeric_limits<double>::quiet_NaN());
    CHECK_THAT(brokenRule(plan), Contains("has the scale nan"));
  }
  SECTION("a rate of dropout above 1") {
    a.set_drop_rate(1.5);
    CHECK_THAT(brokenRule(plan), Contains("drops at a rate of 1.5"));
  }
  SECTION("dropout without a seed") {
    a.clear_seed();
    CHECK_THAT(brokenRule(plan), Contains("has 0 seeds for a rate of dropout of 0.5"));
  }
  SECTION("a seed of another type") {
    a.set_seed(0, kBias);
    CHECK_THAT(brokenRule(plan), Contains("'bias' is not an i64 scalar"));
  }
}

TEST_CASE("attention: operands fit their buffers") {
  plan::Plan plan = validAttention();
  plan::Attention &a = attention(plan);
  SECTION("a missing stride") {
    a.mutable_query()->mutable_strides()->RemoveLast();
    CHECK_THAT(brokenRule(plan), Contains("its query needs one non-negative stride per dim"));
  }
  SECTION("a stride that is too long") {
    a.mutable_key()->set_strides(1, 9);
    CHECK_THAT(brokenRule(plan), Contains("reaches byte 4604 of buffer 'key', which has 4096"));
  }
  SECTION("a mask of numbers") {
    a.mutable_mask()->set_buffer(kBias);
    CHECK_THAT(brokenRule(plan), Contains("its mask is f32, expected bool"));
  }
  SECTION("queries of integers") {
    plan.mutable_programs(0)->mutable_buffers(kQuery)->set_dtype(plan::I32);
    CHECK_THAT(brokenRule(plan), Contains("its query is i32, expected f32, bf16 or f16"));
  }
  SECTION("keys of another type") {
    plan.mutable_programs(0)->mutable_buffers(kKey)->set_dtype(plan::I32);
    CHECK_THAT(brokenRule(plan), Contains("its key is i32, expected f32"));
  }
  SECTION("a bias of integers") {
    plan.mutable_programs(0)->mutable_buffers(kBias)->set_dtype(plan::I32);
    CHECK_THAT(brokenRule(plan), Contains("its bias is i32, expected f32"));
  }
  SECTION("keys of one row") {
    a.mutable_key()->set_strides(1, 0);
    CHECK_THAT(brokenRule(plan), Contains("its key repeats one row 128 times"));
  }
  SECTION("a result whose elements overlap") {
    a.mutable_result()->set_strides(1, 15);
    CHECK_THAT(brokenRule(plan), Contains("its result has several elements in one place"));
  }
  SECTION("a result over an operand") {
    a.mutable_result()->set_buffer(kQuery);
    CHECK_THAT(brokenRule(plan), Contains("its result overlaps its operand 'query'"));
  }
}

TEST_CASE("attention: a gradient has all its tensors and its scratch memory") {
  plan::Plan plan = validAttention();
  plan::Attention &a = attention(plan, kGradient);
  SECTION("a missing gradient") {
    a.clear_key_grad();
    CHECK_THAT(brokenRule(plan), Contains("lacks the gradient of its result or one that it"));
  }
  SECTION("columns of a gradient apart") {
    a.mutable_value_grad()->set_strides(2, 2), a.mutable_value_grad()->set_strides(1, 1);
    a.set_keys(2), a.clear_scratch();
    CHECK_THAT(brokenRule(plan), Contains("its value_grad has a column stride of 2, expected 1"));
  }
  SECTION("no scratch") {
    a.clear_scratch();
    CHECK_THAT(brokenRule(plan), Contains("has 0 scratch buffers for 512 bytes"));
  }
  SECTION("scratch of another type") {
    a.set_scratch(0, kMask);
    CHECK_THAT(brokenRule(plan), Contains("its scratch 'mask' has 1024 bytes of bool"));
  }
  SECTION("scratch over an operand") {
    a.set_scratch(0, kGrad);
    CHECK_THAT(brokenRule(plan), Contains("its scratch overlaps its grad"));
  }
  SECTION("scratch over a result") {
    a.set_scratch(0, kKeyGrad);
    CHECK_THAT(brokenRule(plan), Contains("its key_grad overlaps its operand 'key_grad'"));
  }
  SECTION("a result nobody computed") {
    plan.mutable_programs(0)->mutable_segments(0)->mutable_instructions()->SwapElements(kForward,
                                                                                        kGradient);
    CHECK_THAT(brokenRule(plan), Contains("before anything writes it"));
  }
}
