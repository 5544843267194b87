// Window: the geometry of sliding windows, which convolutions and pooling share.
#pragma once

#include "dialects/graph/Types.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace cleave::graph {

// Maps output positions and kernel elements to input positions.
struct Window {
  std::vector<int64_t> kernel, strides, dilations, padsLow, padsHigh; // one entry per spatial dim

  // The number of spatial dims.
  size_t rank() const { return kernel.size(); }
  // The output size of each spatial dim:
  // floor((input + pads - dilation (kernel - 1) - 1) / stride) + 1.
  Shape outputOf(llvm::ArrayRef<Polynomial> input) const;
  // The input coordinate of kernel element `k` at output `y` of dim d; it may lie in the padding.
  int64_t inputAt(size_t d, int64_t y, int64_t k) const {
    return y * strides[d] + k * dilations[d] - padsLow[d];
  }
  // Visits every (kernel position, input position) of output position `at` inside the input.
  void visitInside(llvm::ArrayRef<int64_t> at, llvm::ArrayRef<int64_t> input,
                   llvm::function_ref<void(const std::vector<int64_t> &kernel,
                                           const std::vector<int64_t> &input)>
                       visit) const;
};

// Verifies that each list of the window has one entry per spatial dim of `input` [N, C, spatial…],
// and that strides and dilations are at least 1.
mlir::LogicalResult verifyWindow(mlir::Operation *op, const Window &window, mlir::Value input);

} // namespace cleave::graph
