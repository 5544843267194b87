// MatmulForm: a dot_general on strided operands as a batched matrix product.
#pragma once

#include "dialects/graph/Graph.h"
#include "passes/bufferize/View.h"

namespace cleave::bufferize {

// The operands of program.matmul.
struct MatmulForm {
  llvm::SmallVector<int64_t> batch;
  int64_t m = 1, n = 1, k = 1;
  View lhs, rhs, out; // one stride per batch dim, then two for the matrix; `shape` is not used
};

// The product on operands and result in their layouts. Dims of which one stride is the extent of
// the next are merged; if several row (column) dims remain, all but the last become batch dims.
// None if the contracting dims do not merge to one stride per operand, or if a matrix has unit
// stride in neither dim: then an operand must be copied first.
std::optional<MatmulForm> matmulForm(graph::DotGeneralOp dot, const View &lhs, const View &rhs,
                                     const View &out);

// Whether matmulForm accepts the view of this operand: its contracting dims merge to one stride,
// and one dim has unit stride.
bool isUsable(const View &operand, llvm::ArrayRef<int64_t> batch,
              llvm::ArrayRef<int64_t> contracting);

} // namespace cleave::bufferize
