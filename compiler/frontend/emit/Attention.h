// Attention: scaled dot products with masks, and rotary position embeddings.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// Options of attention(); the defaults are plain scaled dot-product attention without a mask.
struct AttentionOptions {
  std::optional<double> scale; // default: 1 / sqrt(head size)
  // Bool (true: visible) or floating-point numbers that are added to the scores; broadcasts to
  // [batch…, heads, queries, keys]. Keys beyond its last dim are masked. Null: no mask.
  Value mask;
  // Query i has position i + offset among the keys and sees the keys up to that position.
  bool causal = false;
  // Largest distance of a visible key before (after) the query's position; < 0: no limit.
  int64_t leftWindow = -1, rightWindow = -1;
  Polynomial offset = 0;
  Value offsets;          // [batch] int64, replaces `offset`; null: `offset`
  Value keyCounts;        // [batch] int64, keys before the padding; null: no padding
  double softcap = 0;     // scores s become softcap · tanh(s / softcap); 0: unchanged
  mlir::Type softmaxType; // element type of the softmax; null: that of the operands
  double dropout = 0;     // part of the weights that training drops
};

// Intermediate values are results too, since some operators return them.
struct AttentionResult {
  Value output;  // [batch…, heads, queries, value size]
  Value product; // [batch…, heads, queries, keys]: scaled products of queries and keys
  Value capped;  // `product` after softcap
  Value weights; // after softmax, before dropout; rows without a visible key are zero
};

// q is [batch…, heads, queries, size], k and v are [batch…, key heads, keys, size]. `heads` is a
// multiple of `key heads`; consecutive query heads share a key head.
AttentionResult attention(const Emitter &e, Value q, Value k, Value v,
                          const AttentionOptions &options);

// The bias that attention adds to `product` before the softmax: the mask's numbers, and -infinity
// for invisible keys, broadcast to the shape of `product`. Null without any mask.
Value attentionBias(const Emitter &e, Value product, const AttentionOptions &options);

// Rotary embedding: rotates pairs of the first `size` elements of x's last dim by the angles whose
// cosines and sines broadcast to [other dims of x, size / 2]. A pair is two neighbours
// (interleaved), or the elements of one index in both halves.
Value rotate(const Emitter &e, Value x, Value cos, Value sin, int64_t size, bool interleaved);

} // namespace cleave::emit
