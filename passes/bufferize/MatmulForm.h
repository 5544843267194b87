// MatmulForm: a dot_general on strided operands as a batched matrix product.
#pragma once

#include "dialects/graph/Graph.h"
#include "passes/bufferize/View.h"

namespace cleave::bufferize {

struct MatmulForm {
  llvm::SmallVector<int64_t> batch;
  int64_t m = 1, n = 1, k = 1;
  View lhs, rhs, out; // one stride per batch dim, then two for the matrix; `shape` is not used
};

// The product with operands and result as they lie. Dims that lie evenly become one; if several rows (columns) remain, all but
// the last count as batch dims. Nothing if the contracting dims cannot be walked with one stride per operand, or
// if a matrix has unit stride in neither dim: then an operand must be copied first.
std::optional<MatmulForm> matmulForm(graph::DotGeneralOp dot, const View &lhs, const View &rhs,
                                     const View &out);

// Whether the view of lhs (rhs) alone is one that matmulForm can use: contracting dims evenly spaced and a unit stride.
bool isUsable(const View &operand, llvm::ArrayRef<int64_t> batch,
              llvm::ArrayRef<int64_t> contracting);

} // namespace cleave::bufferize
