// Attention: its operands head by head, and the division of its work among threads.
#include "runtime/base/AttentionScratch.h"
#include "runtime/base/CounterRandom.h"
#include "runtime/base/Float16.h"
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
      : op_(attention), at_(operands), element_(elementOf(operands.dtype)),
        forward_(kernels.forward[int(element_)]), backward_(kernels.backward[int(element_)]),
        sizes_{.batch = 1,
               .heads = op_.heads(),
               .groups = op_.groups(),
               .queries = op_.queries(),
               .keys = op_.keys(),
               .width = op_.width(),
               .depth = op_.depth()} {
    for (int64_t size : op_.batch())
      sizes_.batch *= size;
    parts_ = attentionParts(sizes_.batch, op_.groups(), op_.keys());
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
      inParallel(sizes_.batch * op_.heads() * blocks(), [this](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          forward_(numbers_, headTensors(i / blocks()), balanced(i % blocks()));
      });
    return Status::ok();
  }

private:
  static AttentionElement elementOf(DType dtype) {
    return dtype == DType::BF16  ? AttentionElement::BF16
           : dtype == DType::F16 ? AttentionElement::F16
                                 : AttentionElement::F32;
  }
  bool isF32() const { return element_ == AttentionElement::F32; }
  bool isBiasF32() const { return at_.biasDtype == DType::F32; }

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

  HeadView viewOf(const plan::StridedOperand &operand, void *data,
                  const std::vector<int64_t> &indices, bool isF32) const {
    if (!data)
      return {};
    int rows = int(indices.size());
    int64_t bytes = offsetOf(operand, indices) * (isF32 ? 4 : 2);
    return {static_cast<char *>(data) + bytes, operand.strides(rows),
            rows + 1 < operand.strides_size() ? operand.strides(rows + 1) : 0};
  }

  HeadTensors headTensors(int64_t head) const {
    std::vector<int64_t> indices = indicesOf(head), group = indices;
    group.back() /= op_.heads() / op_.groups();
    auto view = [&](const plan::StridedOperand &operand, void *data,
                    const std::vector<int64_t> &at) { return viewOf(operand, data, at, isF32()); };
    HeadTensors t{.query = view(op_.query(), at_.query, indices),
                  .key = view(op_.key(), at_.key, group),
                  .value = view(op_.value(), at_.value, group),
                  .result = view(op_.result(), at_.result, indices),
                  .lse = viewOf(op_.lse(), at_.lse, indices, true),
                  .bias = viewOf(op_.bias(), at_.bias, indices, isBiasF32()),
                  .grad = view(op_.grad(), at_.grad, indices),
                  .queryGrad = view(op_.query_grad(), at_.queryGrad, indices),
                  .keyGrad = view(op_.key_grad(), at_.keyGrad, group),
                  .valueGrad = view(op_.value_grad(), at_.valueGrad, group),
                  .isBiasF32 = isBiasF32()};
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
    inParallel(sizes_.batch * op_.groups() * parts_, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t group = i / parts_, part = i % parts_;
        const HeadTensors first = headTensors(group * perGroup);
        const HeadView keySums = keySumsOf(group, first), valueSums = valueSumsOf(group, first);
        forEachKey(part, [&](int64_t key) {
          std::fill_n(rowOf(keySums, key), op_.width(), 0.0f);
          std::fill_n(rowOf(valueSums, key), op_.depth(), 0.0f);
        });
        for (int64_t h = group * perGroup; h < (group + 1) * perGroup; ++h) {
          HeadTensors t = headTensors(h);
          t.keyGrad = keySums, t.valueGrad = valueSums;
          backward_(numbers_, t, sumsQueriesInPlace() ? t.queryGrad : partOf(h, part), part,
                    parts_);
        }
        if (!isF32())
          forEachKey(part, [&](int64_t key) { roundKey(first, keySums, valueSums, key); });
      }
    });
    if (!sumsQueriesInPlace())
      inParallel(sizes_.batch * op_.heads(), [this](int64_t begin, int64_t end) {
        for (int64_t head = begin; head < end; ++head)
          addParts(head, headTensors(head).queryGrad);
      });
  }

  bool sumsQueriesInPlace() const { return isF32() && parts_ == 1; }

  // Calls what(key) for the keys of one part.
  template <typename What> void forEachKey(int64_t part, const What &what) const {
    for (int64_t k = part * kAttentionBlock; k < op_.keys(); k += parts_ * kAttentionBlock)
      for (int64_t key = k; key < std::min(k + kAttentionBlock, op_.keys()); ++key)
        what(key);
  }

  // The gradients of a group's keys and values while they are summed up in f32. `first`: the
  // tensors of its first head.
  HeadView keySumsOf(int64_t group, const HeadTensors &first) const {
    if (isF32())
      return first.keyGrad;
    return {scratch() + queryPartElements(sizes_) + group * op_.keys() * op_.width(), op_.width(),
            1};
  }
  HeadView valueSumsOf(int64_t group, const HeadTensors &first) const {
    if (isF32())
      return first.valueGrad;
    return {scratch() + queryPartElements(sizes_) + keyGradElements(sizes_) +
                group * op_.keys() * op_.depth(),
            op_.depth(), 1};
  }

  static float *rowOf(HeadView sums, int64_t row) {
    return static_cast<float *>(sums.data) + row * sums.rows;
  }

  void roundKey(const HeadTensors &t, HeadView keySums, HeadView valueSums, int64_t key) const {
    const float *keyGrad = rowOf(keySums, key), *valueGrad = rowOf(valueSums, key);
    for (int64_t c = 0; c < op_.width(); ++c)
      put(t.keyGrad, key, c, keyGrad[c]);
    for (int64_t c = 0; c < op_.depth(); ++c)
      put(t.valueGrad, key, c, valueGrad[c]);
  }

  // Stores an element of a gradient.
  void put(HeadView to, int64_t row, int64_t column, float value) const {
    int64_t at = row * to.rows + column * to.columns;
    if (isF32())
      static_cast<float *>(to.data)[at] = value;
    else
      static_cast<uint16_t *>(to.data)[at] =
          element_ == AttentionElement::BF16 ? toBF16(value) : toF16(value);
  }

  float *scratch() const { return static_cast<float *>(at_.scratch); }

  // The gradient of a head's queries by one part of the keys.
  HeadView partOf(int64_t head, int64_t part) const {
    int64_t first = (part * sizes_.batch * op_.heads() + head) * op_.queries() * op_.width();
    return {scratch() + first, op_.width(), 1};
  }

  void addParts(int64_t head, HeadView to) const {
    for (int64_t query = 0; query < op_.queries(); ++query)
      for (int64_t c = 0; c < op_.width(); ++c) {
        float sum = 0;
        for (int64_t part = 0; part < parts_; ++part)
          sum += rowOf(partOf(head, part), query)[c];
        put(to, query, c, sum);
      }
  }

  plan::Attention op_;
  AttentionOperands at_;
  AttentionElement element_;
  ForwardKernel forward_;
  BackwardKernel backward_;
  AttentionSizes sizes_;
  AttentionNumbers numbers_;
  int64_t parts_;
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
