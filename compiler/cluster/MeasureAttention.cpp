// The attention of the runtime (runtime/device/cpu), which is no product of a library.
#include "compiler/cluster/MeasureAttention.h"

#include "compiler/cluster/Cluster.h"
#include "compiler/cluster/MeasureConvolution.h"
#include "runtime/artifact/Work.h"
#include "runtime/device/cpu/CpuDevice.h"

#include <limits>
#include <vector>

namespace cleave::cluster {

namespace {

// Eight heads, so that the gradient needs no scratch memory (runtime/base/AttentionScratch.h).
constexpr int64_t kHeads = 8, kSequence = kMeasuredTokens, kWidth = 64, kRows = kHeads * kSequence;

// Rows of `columns` floats, all heads one behind the other.
plan::StridedOperand rows(int64_t columns) {
  plan::StridedOperand operand;
  operand.add_strides(kSequence * columns);
  operand.add_strides(columns);
  if (columns > 1) // lse has one float per query
    operand.add_strides(1);
  return operand;
}

plan::Attention attentionOf(bool isGradient) {
  plan::Attention attention;
  attention.set_heads(kHeads), attention.set_groups(kHeads);
  attention.set_queries(kSequence), attention.set_keys(kSequence);
  attention.set_width(kWidth), attention.set_depth(kWidth);
  attention.set_scale(0.125), attention.set_causal(true);
  attention.set_fill(-std::numeric_limits<double>::infinity());
  *attention.mutable_query() = *attention.mutable_key() = *attention.mutable_value() =
      *attention.mutable_result() = rows(kWidth);
  *attention.mutable_lse() = rows(1);
  if (isGradient)
    *attention.mutable_grad() = *attention.mutable_query_grad() = *attention.mutable_key_grad() =
        *attention.mutable_value_grad() = rows(kWidth);
  return attention;
}

double flopsOf(const plan::Attention &attention) {
  plan::Instruction instruction;
  *instruction.mutable_attention() = attention;
  return artifact::flopsOf({}, instruction);
}

} // namespace

Result<double> measureAttention(double seconds) {
  const plan::Attention forward = attentionOf(false), gradient = attentionOf(true);
  std::vector<std::vector<float>> tensors(8, std::vector<float>(kRows * kWidth, 0.5f));
  std::vector<float> lse(kRows);
  device::AttentionOperands operands{.dtype = DType::F32};
  operands.query = tensors[0].data(), operands.key = tensors[1].data();
  operands.value = tensors[2].data(), operands.result = tensors[3].data();
  operands.lse = lse.data();
  auto cpu = device::makeCpuDevice(1);
  CLEAVE_TRY_ASSIGN(auto attend, cpu->attention(forward, operands));
  operands.grad = tensors[4].data(), operands.queryGrad = tensors[5].data();
  operands.keyGrad = tensors[6].data(), operands.valueGrad = tensors[7].data();
  CLEAVE_TRY_ASSIGN(auto differentiate, cpu->attention(gradient, operands));
  CLEAVE_TRY(cpu->finishPreparing());
  Status status;
  const double least = leastSeconds(seconds, [&] {
    for (device::Action *action : {attend.get(), differentiate.get()})
      if (Status done = action->run(); !done)
        status = done;
  });
  CLEAVE_TRY(status);
  return (flopsOf(forward) + flopsOf(gradient)) / least;
}

} // namespace cleave::cluster
