// The convolutions that the CPU's library has no kernel of its own for, as compiler and runtime
// know them alike: the planner prices them by the work that they really are.
//
// oneDNN 2.6 lowers such a convolution group by group: for each image and group it copies the
// windows of the input to the columns of a matrix and calls a product, whose other dim is the few
// outputs of one group. The copies take nearly all the time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace cleave {

// The direction of a convolution, with the numbers of Convolution.Kind in program.proto.
enum class ConvolutionPass : int { Forward = 0, InputGradient = 1, WeightGradient = 2 };

// The properties that decide. Lists have one entry per spatial dim.
struct ConvolutionForm {
  int64_t groups = 1;
  int64_t inputs = 1;  // channels of one group
  int64_t outputs = 1; // the same
  std::span<const int64_t> kernel, strides, dilations, padsLow, padsHigh;
};

// Whether the library lowers it.
inline bool isLowered(ConvolutionPass pass, const ConvolutionForm &form) {
  if (form.groups == 1)
    return false;
  if (form.inputs > 1 || form.outputs > 1) {
    const int64_t whole = pass == ConvolutionPass::WeightGradient ? 8 : 4;
    return form.inputs % whole != 0 || form.outputs % whole != 0;
  }
  for (size_t d = 0; d < form.kernel.size(); ++d) {
    const int64_t kernel = form.kernel[d], pad = std::max(form.padsLow[d], form.padsHigh[d]);
    const bool isDilated = form.dilations[d] > 1;
    if (pass == ConvolutionPass::Forward && pad > form.dilations[d] * (kernel - 1))
      return true;
    if (pass == ConvolutionPass::InputGradient && isDilated)
      return true;
    if (pass == ConvolutionPass::WeightGradient &&
        (isDilated || kernel > 3 || pad > kernel / 2 || form.strides[d] > kernel))
      return true;
  }
  return false;
}

// The elements of all columns of a convolution with these FLOPs; 0 if it is not lowered.
inline double loweredColumns(ConvolutionPass pass, const ConvolutionForm &form, double flops) {
  return isLowered(pass, form) ? flops / (2.0 * static_cast<double>(form.outputs)) : 0;
}

} // namespace cleave
