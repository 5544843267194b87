// What decomposition and gradients of attention have in common; both build the same ops, and CSE merges them.
#pragma once

#include "dialects/graph/Build.h"

namespace cleave::graph {

// The weights of an attention, [batch…, heads, queries, keys] in the values' element type.
mlir::Value buildAttentionWeights(mlir::OpBuilder &b, AttentionOp op);

// `weights`, or their gradient, as the attention's dropout leaves them.
mlir::Value buildDropped(mlir::OpBuilder &b, AttentionOp op, mlir::Value weights);

// For every head of lhs [batch…, heads, m, n] the product with the head of rhs [batch…, groups, …] that its group has,
// summed over lhs's last dim and dim `contracting` (counted from the end: 1 or 2) of rhs.
mlir::Value buildGroupedDot(mlir::OpBuilder &b, mlir::Value lhs, mlir::Value rhs,
                            int64_t contracting);

// The products of lhs [batch…, heads, m, n] and rhs [batch…, heads, m, p] summed over m and the heads of each of `groups`
// groups: [batch…, groups, n, p].
mlir::Value buildGroupSum(mlir::OpBuilder &b, mlir::Value lhs, mlir::Value rhs,
                          const Polynomial &groups);

// r(x) of RotaryOp.
mlir::Value buildRotated(mlir::OpBuilder &b, mlir::Value x, bool interleaved);

} // namespace cleave::graph
