// The scratch memory of the gradient of attention, which compiler and runtime compute alike.
#pragma once

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

// Bytes of scratch memory: the gradient of the queries by every part; 0 for one part.
inline int64_t attentionScratchBytes(int64_t batch, int64_t heads, int64_t groups, int64_t queries,
                                     int64_t keys, int64_t width) {
  int64_t parts = attentionParts(batch, groups, keys);
  return parts == 1 ? 0 : parts * batch * heads * queries * width * int64_t(sizeof(float));
}

} // namespace cleave
