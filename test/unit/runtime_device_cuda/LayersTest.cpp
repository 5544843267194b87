// Convolutions and attention over the recorder: which bytes they access, and what is refused.
#include "test/unit/runtime_device_cuda/LibrarySetting.h"

#include <catch2/catch.hpp>

using namespace cleave;
using test::setOperand;
using test::Setting;

namespace {

// A convolution of 2 samples in 2 groups with `dims` spatial dims.
plan::Convolution convolution(plan::Convolution::Kind kind, int dims) {
  plan::Convolution c;
  c.set_kind(kind), c.set_groups(2);
  for (int64_t size : {2, 4})
    c.add_input_shape(size);
  for (int64_t size : {6, 2})
    c.add_weight_shape(size);
  for (int64_t size : {2, 6})
    c.add_output_shape(size);
  for (int d = 0; d < dims; ++d) {
    c.add_input_shape(8), c.add_weight_shape(3), c.add_output_shape(4);
    c.add_strides(2), c.add_dilations(1), c.add_pads_low(1), c.add_pads_high(1);
  }
  return c;
}

std::string run(Setting &setting, const plan::Convolution &c, DType dtype = DType::F32) {
  auto memory = [&](const auto &shape) {
    int64_t bytes = byteSize(dtype);
    for (int64_t size : shape)
      bytes *= size;
    return setting.memory(uint64_t(bytes));
  };
  device::ConvolutionOperands operands{dtype, dtype, memory(c.input_shape()),
                                       memory(c.weight_shape()), memory(c.output_shape())};
  return setting.run(setting.device().convolution(c, operands));
}

} // namespace

TEST_CASE("cuda: convolutions of one to three dims, and their gradients") {
  for (int dims : {1, 2, 3})
    for (auto kind : {plan::Convolution::FORWARD, plan::Convolution::INPUT_GRADIENT,
                      plan::Convolution::WEIGHT_GRADIENT}) {
      INFO(dims << " dims, " << plan::Convolution::Kind_Name(kind));
      Setting setting;
      CHECK(run(setting, convolution(kind, dims)) == "");
    }
}

TEST_CASE("cuda: convolutions of f32 use tensor cores if the plan allows tf32") {
  plan::Convolution c = convolution(plan::Convolution::FORWARD, 2);
  for (bool tf32 : {false, true}) {
    Setting setting;
    c.set_tf32(tf32);
    CHECK(run(setting, c) == "");
    CHECK(setting.calls("on tensor cores") == (tf32 ? 1 : 0));
  }
}

TEST_CASE("cuda: a convolution that cuDNN has not is refused with the way out") {
  Setting setting;
  CHECK_THAT(run(setting, convolution(plan::Convolution::FORWARD, 2), DType::I32),
             Catch::Matchers::Contains("no engines for i32") &&
                 Catch::Matchers::Contains("--direct-convolution"));
}

namespace {

plan::Attention attention() {
  plan::Attention a;
  a.add_batch(2);
  a.set_heads(4), a.set_groups(2), a.set_queries(8), a.set_keys(16);
  a.set_width(32), a.set_depth(32), a.set_scale(0.125);
  setOperand(a.mutable_query(), {4 * 8 * 32, 32, 4 * 32, 1}); // queries before heads
  setOperand(a.mutable_key(), {2 * 16 * 32, 16 * 32, 32, 1});
  setOperand(a.mutable_value(), {2 * 16 * 32, 16 * 32, 32, 1});
  setOperand(a.mutable_result(), {4 * 8 * 32, 8 * 32, 32, 1});
  setOperand(a.mutable_lse(), {4 * 8, 8, 1});
  return a;
}

// The gradient of this attention; that of the query lies like the query.
plan::Attention gradientOf(plan::Attention a) {
  *a.mutable_grad() = a.result();
  *a.mutable_query_grad() = a.query();
  *a.mutable_key_grad() = a.key(), *a.mutable_value_grad() = a.value();
  return a;
}

constexpr uint64_t kSumBytes = 256; // of 2 x 4 x 8 numbers in f32

device::AttentionOperands operandsIn(Setting &setting, const plan::Attention &a, DType dtype,
                                     uint64_t workspace) {
  const uint64_t rows = 2 * 2 * 4 * 8 * 32, groups = 2 * 2 * 2 * 16 * 32; // bytes
  device::AttentionOperands operands{};
  operands.dtype = operands.biasDtype = dtype;
  operands.query = setting.memory(rows);
  operands.key = setting.memory(groups);
  operands.value = setting.memory(groups);
  operands.result = setting.memory(rows);
  operands.lse = setting.memory(4 * 2 * 4 * 8);
  if (a.has_grad()) {
    operands.grad = setting.memory(rows), operands.queryGrad = setting.memory(rows);
    operands.keyGrad = setting.memory(groups), operands.valueGrad = setting.memory(groups);
  }
  if (workspace > 0)
    operands.workspace = {setting.memory(workspace), workspace};
  return operands;
}

std::string run(const plan::Attention &a, DType dtype, uint64_t workspace = kSumBytes) {
  Setting setting;
  const device::AttentionOperands operands = operandsIn(setting, a, dtype, workspace);
  return setting.run(setting.device().attention(a, operands));
}

} // namespace

TEST_CASE("cuda: attention and its gradient with grouped heads, causal or not") {
  plan::Attention a = attention();
  for (bool isCausal : {false, true}) {
    a.set_causal(isCausal), a.set_fill(-1e30);
    CHECK(run(a, DType::BF16) == "");
    CHECK(run(gradientOf(a), DType::F16) == "");
  }
}

TEST_CASE("cuda: instructions that differ only in their buffers share a graph of cuDNN") {
  Setting setting;
  plan::Attention first = gradientOf(attention()), second = first, other = first;
  second.mutable_query()->set_buffer(7), other.set_scale(0.5);
  const device::AttentionOperands one = operandsIn(setting, first, DType::BF16, kSumBytes),
                                  two = operandsIn(setting, first, DType::BF16, kSumBytes);
  auto prepare = [&](const plan::Attention &a, const device::AttentionOperands &operands) {
    device::PreparedAction action = setting.device().attention(a, operands);
    REQUIRE(action.status().message() == "");
    const int graphs = setting.calls("an execution plan of cuDNN");
    CHECK(setting.run(std::move(action)) == "");
    return graphs;
  };
  CHECK(prepare(first, one) == 1);
  CHECK(prepare(second, two) == 0);
  CHECK(prepare(other, one) == 1);
}

TEST_CASE("cuda: attention that cuDNN cannot do is refused with the reason") {
  using Catch::Matchers::Contains;
  plan::Attention a = attention();
  CHECK_THAT(run(a, DType::F32), Contains("only for bf16 and f16"));
  a.set_drop_rate(0.5);
  CHECK_THAT(run(a, DType::BF16), Contains("dropout") && Contains("--direct-attention"));
  a = attention();
  setOperand(a.mutable_bias(), {0, 0, 16, 1});
  CHECK_THAT(run(a, DType::BF16), Contains("a mask or a bias"));
  CHECK_THAT(run(gradientOf(attention()), DType::BF16, /*workspace=*/0),
             Contains("its workspace has 0 bytes, expected at least 256"));
  a = attention();
  a.set_causal(true), a.set_fill(-1);
  CHECK_THAT(run(a, DType::BF16), Contains("large negative number"));
}
