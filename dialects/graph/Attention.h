// Builders that the decomposition and the gradients of attention share. Both build the same ops,
// and CSE merges them.
#pragma once

#include "dialects/graph/Build.h"

namespace cleave::graph {

// The weights of an attention, [batch…, heads, queries, keys] in the values' element type.
mlir::Value buildAttentionWeights(mlir::OpBuilder &b, AttentionOp op);

// `weights` (or their gradient) after the attention's dropout; `weights` itself if there is none.
mlir::Value buildDropped(mlir::OpBuilder &b, AttentionOp op, mlir::Value weights);

// The product of every head of lhs [batch…, heads, m, n] with the head of its group in rhs
// [batch…, groups, …], summed over the last dim of lhs and dim `contracting` (counted from the end:
// 1 or 2) of rhs.
mlir::Value buildGroupedDot(mlir::OpBuilder &b, mlir::Value lhs, mlir::Value rhs,
                            int64_t contracting);

// The products of lhs [batch…, heads, m, n] and rhs [batch…, heads, m, p], summed over m and over
// the heads of each of `groups` groups: [batch…, groups, n, p].
mlir::Value buildGroupSum(mlir::OpBuilder &b, mlir::Value lhs, mlir::Value rhs,
                          const Polynomial &groups);

// r(x) of graph.rotary: every pair (a, b) of the last dim becomes (-b, a).
mlir::Value buildRotated(mlir::OpBuilder &b, mlir::Value x, bool interleaved);

} // namespace cleave::graph
