// Window: the geometry that convolutions and pooling share: which input element a kernel element meets.
#pragma once

#include "dialects/graph/Types.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace cleave::graph {

struct Window {
  std::vector<int64_t> kernel, strides, dilations, padsLow, padsHigh; // one entry per spatial dim

  size_t rank() const { return kernel.size(); }
  // The output size along each spatial dim: floor((in + pads - dilation (kernel - 1) - 1) / stride) + 1.
  Shape outputOf(llvm::ArrayRef<Polynomial> input) const;
  // The input coordinate that kernel element `k` meets at output `y` of dim d (may lie in the padding).
  int64_t inputAt(size_t d, int64_t y, int64_t k) const {
    return y * strides[d] + k * dilations[d] - padsLow[d];
  }
  // Visits every (kernel position, input position) of output position `at` that lies inside the input.
  void visitInside(llvm::ArrayRef<int64_t> at, llvm::ArrayRef<int64_t> input,
                   llvm::function_ref<void(const std::vector<int64_t> &kernel,
                                           const std::vector<int64_t> &input)> visit) const;
};

} // namespace cleave::graph
