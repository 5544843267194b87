// One attention in the form that its kernels need, and the kernels. Private to this folder.
//
// A block is 64 queries by up to 64 keys. Its scores are stored transposed, one row per key, so
// that a vector holds the scores of 16 queries for one key: then keys and values are read where
// they lie, and only queries and gradients are packed, once per 64 queries.
#pragma once

#include <cstdint>
#include <vector>

namespace cleave::device {

// A tensor of one head: element (row, column) is at data[row * rows + column * columns], in
// elements.
struct HeadView {
  void *data = nullptr;
  int64_t rows = 0, columns = 0;
};

// The tensors of one head of the query; absent ones have no data. `lse`, the gradients that are
// computed and, with `isBiasF32`, the bias are f32, the others have the element type of the kernel.
struct HeadTensors {
  HeadView query, key, value, result, lse, bias, grad, queryGrad, keyGrad, valueGrad;
  bool isBiasF32 = false;
  const uint8_t *mask = nullptr;
  int64_t maskRows = 0, maskColumns = 0;
  // The position of the head's first score in the scores of all ranks, for dropout.
  uint64_t position = 0;
};

// What all heads have in common.
struct AttentionNumbers {
  int64_t queries, keys, width, depth;
  float scale, fill;
  bool isCausal, isSafe;
  // The index of the first query for a causal mask, and the keys of all ranks' scores.
  int64_t firstQuery, wholeKeys;
  bool drops;
  float dropRate, keptFactor;
  uint64_t hashedSeed;
};

// The element types that kernels exist for.
enum class AttentionElement { F32, BF16, F16 };
constexpr int kAttentionElements = 3;

// Computes result and lse of the queries [64 * block, 64 * block + 64) of a head.
using ForwardKernel = void (*)(const AttentionNumbers &, const HeadTensors &, int64_t block);
// Adds the gradients by one head and the key blocks part, part + parts, … to key_grad and
// value_grad, and writes those of the head's queries to `queryGrad`.
using BackwardKernel = void (*)(const AttentionNumbers &, const HeadTensors &, HeadView queryGrad,
                                int64_t part, int64_t parts);

// The kernels for one instruction set.
struct AttentionKernels {
  const char *name;                          // `avx512`, `avx2`, `plain`
  ForwardKernel forward[kAttentionElements]; // by AttentionElement
  BackwardKernel backward[kAttentionElements];
};
extern const AttentionKernels kPlainAttention, kAvx2Attention, kAvx512Attention;

// The kernels that this processor can run, the fastest first.
std::vector<AttentionKernels> attentionKernels();

} // namespace cleave::device
