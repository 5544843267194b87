// Attention: scaled dot products with masks, and rotary position embeddings.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

struct AttentionOptions {
  std::optional<double> scale; // 1 / sqrt(head size) if absent
  // Bool (true: may be attended) or floating-point numbers to be added; broadcast to [batch…, heads, queries, keys];
  // fewer keys than there are: the others are masked. Null: none.
  Value mask;
  // Query i stands at position i + offset among the keys and sees those up to its own.
  bool causal = false;
  // Keys further than this behind (before) a query are not seen; < 0: no limit.
  int64_t leftWindow = -1, rightWindow = -1;
  Polynomial offset = 0;
  Value offsets;          // [batch] int64 in place of `offset`
  Value keyCounts;        // [batch] int64: keys from there on are padding. Null: none
  double softcap = 0;     // s becomes softcap · tanh(s / softcap); 0: not
  mlir::Type softmaxType; // in which the softmax is computed; null: the operands'
  double dropout = 0;     // the part of the weights that is dropped where the step trains
};

struct AttentionResult {
  Value output;  // [batch…, heads, queries, value size]
  Value product; // the scaled products of queries and keys: [batch…, heads, queries, keys]
  Value capped;  // after softcap
  Value weights; // after softmax, before dropout; rows in which nothing may be attended are zero
};

// q [batch…, heads, queries, size], k and v [batch…, key heads, keys, size]; heads is a multiple of key heads, whose
// groups of queries follow each other.
AttentionResult attention(const Emitter &e, Value q, Value k, Value v,
                          const AttentionOptions &options);

// What attention adds to the products before the softmax: the mask's numbers, and -infinity where a query must not
// look; broadcast to the products' shape. Null without any mask.
Value attentionBias(const Emitter &e, Value product, const AttentionOptions &options);

// The first `size` elements of x's last dim as pairs, turned by the angles of cos and sin, which are broadcast to
// [x's other dims, size / 2]. Pairs are neighbours (interleaved), or elements of both halves.
Value rotate(const Emitter &e, Value x, Value cos, Value sin, int64_t size, bool interleaved);

} // namespace cleave::emit
