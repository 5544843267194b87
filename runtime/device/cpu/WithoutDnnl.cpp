// Products of a build without oneDNN (CLEAVE_RUNTIME_ONLY): the plain kernels, for all types.
#include "runtime/device/cpu/Parts.h"

namespace cleave::device {

bool isDnnlType(DType) { return false; }

PreparedAction prepareDnnlMatmul(const MatmulShape &shape, bool accumulate,
                                 const MatmulOperands &operands, Scratch &) {
  return preparePlainMatmul(shape, accumulate, operands);
}

std::unique_ptr<Product> makeDnnlProduct(const ProductForm &, Scratch &) { return nullptr; }

PreparedAction prepareDnnlConvolution(const plan::Convolution &convolution,
                                      const ConvolutionOperands &operands, Scratch &) {
  return preparePlainConvolution(convolution, operands);
}

} // namespace cleave::device
