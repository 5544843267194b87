// The blocks in which CPUs compute attention, and the scratch memory of its gradient, for compiler
// and runtime alike.
#pragma once

#include "runtime/base/Alignment.h"

#include <algorithm>
#include <cstdint>

namespace cleave {

// Queries and keys of one block of scores.
constexpr int64_t kAttentionBlock = 64;
// The most columns of a query, key or value.
constexpr int64_t kMostAttentionColumns = 256;

// The parts into which the keys of one group are divided, so that few heads keep many threads busy.
// Does not depend on the number of threads, because gradients of queries are summed over the parts.
inline int64_t attentionParts(int64_t batch, int64_t groups, int64_t keys) {
  constexpr int64_t kTasks = 8;
  int64_t blocks = (keys + kAttentionBlock - 1) / kAttentionBlock;
  return std::clamp<int64_t>(kTasks / std::max<int64_t>(1, batch * groups), 1,
                             std::max<int64_t>(1, blocks));
}

// The share of the scores computed on CPUs that counts as FLOPs. CPUs fill up the last block of
// queries. In causal attention, half of all scores count, but CPUs compute whole blocks.
inline double countedShare(int64_t queries, int64_t keys, bool isCausal) {
  int64_t computed = 0;
  for (int64_t begin = 0; begin < queries; begin += kAttentionBlock)
    computed += kAttentionBlock * (isCausal ? std::min(keys, begin + kAttentionBlock) : keys);
  const double counted = double(queries) * double(keys) * (isCausal ? 0.5 : 1);
  return computed > 0 ? counted / double(computed) : 1;
}

// The sizes of an attention, as in program.proto; `batch` is the product of the batch dims.
struct AttentionSizes {
  int64_t batch, heads, groups, queries, keys, width, depth;
};

// Elements of f32 in the gradients of queries by every part of the keys, and in those of keys and
// values.
inline int64_t queryPartElements(const AttentionSizes &s) {
  return attentionParts(s.batch, s.groups, s.keys) * s.batch * s.heads * s.queries * s.width;
}
inline int64_t keyGradElements(const AttentionSizes &s) {
  return s.batch * s.groups * s.keys * s.width;
}
inline int64_t valueGradElements(const AttentionSizes &s) {
  return s.batch * s.groups * s.keys * s.depth;
}

// Bytes of scratch memory, for tensors with elements of `elementBytes`. Gradients are summed up in
// f32: where they lie, if they are f32, but for those of queries by several parts; else in scratch
// memory.
inline int64_t attentionScratchBytes(const AttentionSizes &s, int64_t elementBytes) {
  constexpr int64_t kBytes = sizeof(float);
  bool isF32 = elementBytes == kBytes;
  int64_t elements =
      isF32 && attentionParts(s.batch, s.groups, s.keys) == 1 ? 0 : queryPartElements(s);
  return (elements + (isF32 ? 0 : keyGradElements(s) + valueGradElements(s))) * kBytes;
}

// The first bytes of the workspace of a gradient on GPUs. They hold one f32 per query and head: the
// sum of the elements of the result times those of its gradient.
inline int64_t attentionSumBytes(const AttentionSizes &s) {
  constexpr int64_t kBytes = sizeof(float);
  return alignedTo(bufferAlignment(/*isForGpus=*/true), s.batch * s.heads * s.queries * kBytes);
}

} // namespace cleave
