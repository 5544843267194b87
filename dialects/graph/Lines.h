// The lines of a tensor along one dim: verification of the dim, and iteration for reference
// evaluation of scans, sorts and normalizations.
#pragma once

#include "dialects/graph/Build.h"

namespace cleave::graph {

// Verifies that `dim` is a dim of the first operand of `op`.
mlir::LogicalResult verifyDim(mlir::Operation *op, int64_t dim);

// Calls visit(positions) for every line along `dim`, with the row-major positions of its elements.
inline void forEachLine(const Tensor &tensor, int64_t dim,
                        llvm::function_ref<void(llvm::ArrayRef<int64_t>)> visit) {
  std::vector<int64_t> outer = tensor.shape, strides = tensor.strides();
  outer[dim] = 1;
  llvm::SmallVector<int64_t> line(tensor.shape[dim]);
  forEachIndex(outer, [&](const auto &index) {
    for (int64_t i = 0; i < tensor.shape[dim]; ++i)
      line[i] = linearIndex(index, strides) + i * strides[dim];
    visit(line);
  });
}

} // namespace cleave::graph
