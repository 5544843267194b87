// The graphs of attention and its gradient, computed operation by operation, against the attention
// of the CPU device on the same strided views.
#include "runtime/base/AttentionScratch.h"
#include "runtime/base/Float16.h"
#include "runtime/device/cpu/CpuDevice.h"
#include "test/unit/runtime_device_cuda/Recorder.h"
#include "test/unit/runtime_device_cuda/RecordingDriver.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>

using namespace cleave;
using cleave::test::Recorder;

namespace {

constexpr int64_t kBatch = 2, kWidth = 16, kDepth = 8;

struct Case {
  int64_t heads, groups, queries, keys;
  bool isCausal;
};

// Keys and values lie beside each other in the rows of one buffer, their gradients in those of
// another one, and queries in rows of the same length; heads lie inside rows.
plan::Attention attentionOf(const Case &c, bool isGradient) {
  plan::Attention a;
  a.add_batch(kBatch);
  a.set_heads(c.heads), a.set_groups(c.groups), a.set_queries(c.queries), a.set_keys(c.keys);
  a.set_width(kWidth), a.set_depth(kDepth), a.set_scale(0.3), a.set_causal(c.isCausal);
  a.set_fill(-INFINITY);
  const int64_t row = c.heads * kWidth + c.groups * (kWidth + kDepth);
  auto set = [&](plan::StridedOperand *operand, int64_t rows, int64_t length, int64_t head,
                 int64_t offset) {
    for (int64_t stride : {rows * length, head, length, int64_t(1)})
      operand->add_strides(stride);
    operand->set_offset(offset);
  };
  const int64_t keysAt = c.heads * kWidth, valuesAt = keysAt + c.groups * kWidth;
  set(a.mutable_query(), c.queries, row, kWidth, 0);
  set(a.mutable_key(), c.keys, row, kWidth, keysAt);
  set(a.mutable_value(), c.keys, row, kDepth, valuesAt);
  set(a.mutable_result(), c.queries, c.heads * kDepth, kDepth, 0);
  for (int64_t stride : {c.heads * c.queries, c.queries, int64_t(1)})
    a.mutable_lse()->add_strides(stride);
  if (isGradient) {
    *a.mutable_grad() = a.result(), *a.mutable_query_grad() = a.query();
    *a.mutable_key_grad() = a.key(), *a.mutable_value_grad() = a.value();
  }
  return a;
}

// The buffers of an attention and its gradient, as bytes of 16-bit floats but for lse.
struct Buffers {
  std::vector<char> queries, keys, result, lse, grad, queryGrads, keyGrads;

  explicit Buffers(const Case &c) {
    const int64_t row = c.heads * kWidth + c.groups * (kWidth + kDepth);
    queries.resize(2 * kBatch * c.queries * row), keys.resize(2 * kBatch * c.keys * row);
    result.resize(2 * kBatch * c.queries * c.heads * kDepth), grad.resize(result.size());
    lse.resize(4 * kBatch * c.heads * c.queries);
    queryGrads.resize(queries.size()), keyGrads.resize(keys.size());
    uint64_t seed = 0;
    for (std::vector<char> *drawn : {&queries, &keys, &grad})
      fill(*drawn, ++seed);
  }

  std::array<std::vector<char> *, 7> all() {
    return {&queries, &keys, &result, &lse, &grad, &queryGrads, &keyGrads};
  }

private:
  // Numbers from -2 to 2.
  static void fill(std::vector<char> &bytes, uint64_t seed) {
    uint64_t state = seed * 0x9e3779b97f4a7c15;
    for (size_t at = 0; at < bytes.size(); at += 2) {
      state = state * 6364136223846793005 + 1442695040888963407;
      const uint16_t low = toBF16(float(state >> 40) / float(1 << 22) - 2);
      std::memcpy(&bytes[at], &low, sizeof low);
    }
  }
};

device::AttentionOperands operandsAt(const std::array<void *, 7> &at, bool isGradient) {
  device::AttentionOperands operands{};
  operands.dtype = operands.biasDtype = DType::BF16;
  operands.query = at[0], operands.key = operands.value = at[1];
  operands.result = at[2], operands.lse = at[3];
  if (isGradient) {
    operands.grad = at[4], operands.queryGrad = at[5];
    operands.keyGrad = operands.valueGrad = at[6];
  }
  return operands;
}

void runOnCpu(const Case &c, Buffers &buffers) {
  auto device = device::makeCpuDevice(1);
  std::array<void *, 7> at;
  for (size_t i = 0; i < at.size(); ++i)
    at[i] = buffers.all()[i]->data();
  const AttentionSizes sizes{kBatch, c.heads, c.groups, c.queries, c.keys, kWidth, kDepth};
  std::vector<float> scratch(size_t(attentionScratchBytes(sizes, 2)) / sizeof(float));
  for (bool isGradient : {false, true}) {
    device::AttentionOperands operands = operandsAt(at, isGradient);
    operands.scratch = isGradient ? scratch.data() : nullptr;
    auto action = device->attention(attentionOf(c, isGradient), operands);
    REQUIRE(action.status().message() == "");
    REQUIRE(device->finishPreparing());
    REQUIRE((*action)->run());
  }
}

void runAsGraphs(const Case &c, Buffers &buffers) {
  plan::Plan plan;
  Recorder recorder(plan);
  Recorder::current() = &recorder;
  {
    auto device = std::move(*device::makeCudaDevice(0, test::recordingLibraries()));
    std::vector<std::shared_ptr<void>> memory;
    std::array<void *, 7> at;
    for (size_t i = 0; i < at.size(); ++i) {
      const std::vector<char> &bytes = *buffers.all()[i];
      memory.push_back(*device->allocate(plan::DEVICE, bytes.size()));
      at[i] = memory.back().get();
      REQUIRE(device->write(at[i], bytes.data(), bytes.size()));
    }
    const uint64_t sums =
        uint64_t(attentionSumBytes({kBatch, c.heads, c.groups, c.queries, c.keys, kWidth, kDepth}));
    memory.push_back(*device->allocate(plan::DEVICE, sums));
    for (bool isGradient : {false, true}) {
      device::AttentionOperands operands = operandsAt(at, isGradient);
      operands.workspace = {memory.back().get(), sums};
      auto action = device->attention(attentionOf(c, isGradient), operands);
      REQUIRE(action.status().message() == "");
      REQUIRE((*action)->run());
    }
    for (size_t i = 0; i < at.size(); ++i)
      REQUIRE(device->read(at[i], buffers.all()[i]->data(), buffers.all()[i]->size()));
  }
  CHECK(recorder.faults() == std::vector<std::string>());
  Recorder::current() = nullptr;
}

std::vector<float> numbers(const std::vector<char> &bytes, bool isLow) {
  std::vector<float> values(bytes.size() / (isLow ? 2 : 4));
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t low = 0;
    if (isLow)
      std::memcpy(&low, &bytes[2 * i], sizeof low);
    else
      std::memcpy(&values[i], &bytes[4 * i], sizeof values[i]);
    if (isLow)
      values[i] = fromBF16(low);
  }
  return values;
}

} // namespace

TEST_CASE("cuda: the graphs of attention and its gradient compute what the CPU device does") {
  for (const Case &c : {Case{2, 2, 5, 5, true}, Case{2, 2, 7, 4, false}, Case{4, 2, 6, 6, true},
                        Case{4, 1, 3, 9, false}}) {
    CAPTURE(c.heads, c.groups, c.queries, c.keys, c.isCausal);
    Buffers expected(c), found(c);
    runOnCpu(c, expected);
    runAsGraphs(c, found);
    for (size_t buffer : {2, 3, 5, 6}) {
      CAPTURE(buffer);
      const bool isLow = buffer != 3;
      const std::vector<float> x = numbers(*expected.all()[buffer], isLow),
                               y = numbers(*found.all()[buffer], isLow);
      float worst = 0, largest = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        worst = std::max(worst, std::abs(x[i] - y[i]));
        largest = std::max(largest, std::abs(x[i]));
      }
      CHECK(largest > 0.1f);
      CHECK(worst <= (isLow ? 0.02f : 1e-5f) * largest);
    }
  }
}
