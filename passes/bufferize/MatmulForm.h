// MatmulForm: a dot_general on strided operands as a batched matrix product.
#pragma once

#include "compiler/cost/Strides.h"
#include "dialects/graph/Graph.h"
#include "passes/bufferize/View.h"

namespace cleave::bufferize {

// The operands of program.matmul.
struct MatmulForm {
  llvm::SmallVector<int64_t> batch;
  int64_t m = 1, n = 1, k = 1;
  bool isSwapped = false; // as in cost::ProductForm
  View lhs, rhs, out;     // one stride per batch dim, then two for the matrix; `shape` is not used
};

// The dims of the op.
cost::ProductDims productDims(graph::DotGeneralOp dot);

// See cost::productForm.
std::optional<MatmulForm> matmulForm(graph::DotGeneralOp dot, const View &lhs, const View &rhs,
                                     const View &out);

} // namespace cleave::bufferize
