// Attention: its operands head by head, and the division of its work among threads.
#include "runtime/base/AttentionScratch.h"
#include "runtime/base/CounterRandom.h"
#include "runtime/device/cpu/AttentionTask.h"
#include "runtime/device/cpu/Parts.h"

#include <algorithm>
#include <cstring>

namespace cleave::device {

std::vector<AttentionKernels> attentionKernels() {
  std::vector<AttentionKernels> kernels;
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    kernels.push_back(kAvx512Attention);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    kernels.push_back(kAvx2Attention);
#endif
  kernels.push_back(kPlainAttention);
  return kernels;
}

namespace {

class AttentionAction : public Action {
public:
  AttentionAction(const plan::Attention &attention, const AttentionOperands &operands,
                  const AttentionKernels &kernels)
      : op_(attention), at_(operands), kernels_(kernels) {
    for (int64_t size : op_.batch())
      batch_ *= size;
    parts_ = attentionParts(batch_, op_.groups(), op_.keys());
    numbers_ = {.queries = op_.queries(),
                .keys = op_.keys(),
                .width = op_.width(),
                .depth = op_.depth(),
                .scale = float(op_.scale()),
                .fill = float(op_.fill()),
                .isCausal = op_.causal(),
                .isSafe = op_.safe(),
                .wholeKeys = op_.keys(),
                .drops = op_.drop_rate() > 0,
                .dropRate = float(op_.drop_rate()),
                .keptFactor = op_.drop_rate() < 1 ? float(1 / (1 - op_.drop_rate())) : 0};
  }

  Status run() override {
    readScalars();
    if (op_.has_grad())
      runBackward();
    else
      inParallel(batch_ * op_.heads() * blocks(), [this](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          kernels_.forward(numbers_, headTensors(i / blocks()), balanced(i % blocks()));
      });
    return Status::ok();
  }

private:
  int64_t blocks() const { return (op_.queries() + kAttentionBlock - 1) / kAttentionBlock; }

  // Neighbouring tasks take blocks from both ends, because the last queries of a causal attention
  // have the most work.
  int64_t balanced(int64_t block) const {
    return block % 2 == 0 ? block / 2 : blocks() - 1 - block / 2;
  }

  // The seed, and the place of this rank's block.
  void readScalars() {
    auto value = [](const void *from) {
      int64_t value;
      std::memcpy(&value, from, sizeof value);
      return value;
    };
    size_t rank = size_t(op_.batch_size()) + 3; // of the scores
    first_.assign(rank, 0);
    for (int i = 0; i < op_.offsets_size(); ++i)
      first_[op_.offset_dims(i)] = value(at_.offsets[size_t(i)]);
    numbers_.firstQuery = std::clamp<int64_t>(first_[rank - 2], 0, int64_t(1) << 40);
    if (op_.whole_size())
      numbers_.wholeKeys = op_.whole(op_.whole_size() - 1);
    if (numbers_.drops)
      numbers_.hashedSeed = hashedKey(uint64_t(value(at_.seed)));
  }

  // The indices of a head of the query: batch…, head.
  std::vector<int64_t> indicesOf(int64_t head) const {
    std::vector<int64_t> indices(size_t(op_.batch_size()) + 1);
    indices.back() = head % op_.heads();
    head /= op_.heads();
    for (int d = op_.batch_size(); d-- > 0; head /= op_.batch(d))
      indices[size_t(d)] = head % op_.batch(d);
    return indices;
  }

  // The offset of a head in an operand.
  static int64_t offsetOf(const plan::StridedOperand &operand,
                          const std::vector<int64_t> &indices) {
    int64_t offset = operand.offset();
    for (size_t d = 0; d < indices.size(); ++d)
      offset += indices[d] * operand.strides(int(d));
    return offset;
  }

  static HeadView viewOf(const plan::StridedOperand &operand, void *data,
                         const std::vector<int64_t> &indices) {
    if (!data)
      return {};
    int rows = int(indices.size());
    return {static_cast<float *>(data) + offsetOf(operand, indices), operand.strides(rows),
            rows + 1 < operand.strides_size() ? operand.strides(rows + 1) : 0};
  }

  HeadTensors headTensors(int64_t head) const {
    std::vector<int64_t> indices = indicesOf(head), group = indices;
    group.back() /= op_.heads() / op_.groups();
    HeadTensors t{.query = viewOf(op_.query(), at_.query, indices),
                  .key = viewOf(op_.key(), at_.key, group),
                  .value = viewOf(op_.value(), at_.value, group),
                  .result = viewOf(op_.result(), at_.result, indices),
                  .lse = viewOf(op_.lse(), at_.lse, indices),
                  .bias = viewOf(op_.bias(), at_.bias, indices),
                  .grad = viewOf(op_.grad(), at_.grad, indices),
                  .queryGrad = viewOf(op_.query_grad(), at_.queryGrad, indices),
                  .keyGrad = viewOf(op_.key_grad(), at_.keyGrad, group),
                  .valueGrad = viewOf(op_.value_grad(), at_.valueGrad, group)};
    int rows = int(indices.size());
    if (at_.mask) {
      t.mask = static_cast<const uint8_t *>(at_.mask) + offsetOf(op_.mask(), indices);
      t.maskRows = op_.mask().strides(rows), t.maskColumns = op_.mask().strides(rows + 1);
    }
    t.position = positionOf(indices);
    return t;
  }

  // The position of a head's first score in the scores of all ranks.
  uint64_t positionOf(const std::vector<int64_t> &indices) const {
    uint64_t position = 0;
    for (size_t d = 0; d <= indices.size(); ++d) { // batch…, heads, queries
      int64_t local = d == indices.size()       ? op_.queries()
                      : d + 1 == indices.size() ? op_.heads()
                                                : op_.batch(int(d));
      uint64_t size = uint64_t(op_.whole_size() ? op_.whole(int(d)) : local);
      position = position * size + uint64_t(first_[d]);
      position += d < indices.size() ? uint64_t(indices[d]) : 0;
    }
    return position * uint64_t(numbers_.wholeKeys);
  }

  // One task is one part of the keys of one group: it alone adds to their gradients.
  void runBackward() {
    int64_t perGroup = op_.heads() / op_.groups();
    inParallel(batch_ * op_.groups() * parts_, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t group = i / parts_, part = i % parts_;
        clearPart(headTensors(group * perGroup), part);
        for (int64_t h = group * perGroup; h < (group + 1) * perGroup; ++h) {
          HeadTensors t = headTensors(h);
          kernels_.backward(numbers_, t, parts_ == 1 ? t.queryGrad : partOf(h, part), part, parts_);
        }
      }
    });
    if (parts_ > 1)
      inParallel(batch_ * op_.heads() * op_.queries(), [this](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          addParts(i / op_.queries(), i % op_.queries());
      });
  }

  // Sets the gradients of the key blocks of one part to 0.
  void clearPart(const HeadTensors &t, int64_t part) const {
    for (int64_t k = part * kAttentionBlock; k < op_.keys(); k += parts_ * kAttentionBlock)
      for (int64_t row = k; row < std::min(k + kAttentionBlock, op_.keys()); ++row) {
        std::fill_n(t.keyGrad.data + row * t.keyGrad.rows, op_.width(), 0.0f);
        std::fill_n(t.valueGrad.data + row * t.valueGrad.rows, op_.depth(), 0.0f);
      }
  }

  // The gradient of a head's queries by one part of the keys.
  HeadView partOf(int64_t head, int64_t part) const {
    int64_t first = (part * batch_ * op_.heads() + head) * op_.queries() * op_.width();
    return {static_cast<float *>(at_.scratch) + first, op_.width(), 1};
  }

  void addParts(int64_t head, int64_t query) const {
    HeadView to = headTensors(head).queryGrad;
    for (int64_t c = 0; c < op_.width(); ++c) {
      float sum = 0;
      for (int64_t part = 0; part < parts_; ++part)
        sum += partOf(head, part).data[query * op_.width() + c];
      to.data[query * to.rows + c * to.columns] = sum;
    }
  }

  plan::Attention op_;
  AttentionOperands at_;
  AttentionKernels kernels_;
  AttentionNumbers numbers_;
  int64_t batch_ = 1, parts_;
  std::vector<int64_t> first_; // index of the first score in each dim of the scores of all ranks
};

} // namespace

PreparedAction prepareAttention(const plan::Attention &attention, const AttentionOperands &operands,
                                const AttentionKernels &kernels) {
  return PreparedAction(std::make_unique<AttentionAction>(attention, operands, kernels));
}

PreparedAction prepareAttention(const plan::Attention &attention,
                                const AttentionOperands &operands) {
  return prepareAttention(attention, operands, attentionKernels().front());
}

} // namespace cleave::device
