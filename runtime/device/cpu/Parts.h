// How the CPU device's files fit together. Private to this folder.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/device/cpu/Scratch.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace cleave::device {

// A matmul with the operand offsets applied, dims of size 1 dropped, and batch dims that lie evenly
// merged with each other or with the rows. Strides count elements.
struct MatmulShape {
  std::vector<int64_t> batch;
  int64_t m, n, k;
  std::vector<int64_t> lhs, rhs, out; // strides: batch…, then rows, columns
};
MatmulShape simplified(const plan::Matmul &matmul);

// A matmul that oneDNN runs (f32, bf16). Operands already stand at their offsets.
PreparedAction prepareDnnlMatmul(const MatmulShape &shape, bool accumulate,
                                 const MatmulOperands &operands, Scratch &scratch);

// A matmul as loops, for element types and strides that oneDNN does not take.
PreparedAction preparePlainMatmul(const MatmulShape &shape, bool accumulate,
                                  const MatmulOperands &operands);

// A convolution or one of its gradients by oneDNN, and as loops.
PreparedAction prepareDnnlConvolution(const plan::Convolution &convolution,
                                      const ConvolutionOperands &operands, Scratch &scratch);
PreparedAction preparePlainConvolution(const plan::Convolution &convolution,
                                       const ConvolutionOperands &operands);

// Calls part(begin, end) on parts of [0, extent) in the threads of the calling thread's OpenMP
// team.
void inParallel(int64_t extent, const std::function<void(int64_t, int64_t)> &part);

} // namespace cleave::device
