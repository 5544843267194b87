// The lines of a tensor along one dim, for ops whose meaning is told line by line.
#pragma once

#include "dialects/graph/Build.h"

namespace cleave::graph {

// Calls visit(positions) with the positions of every line along one dim.
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
