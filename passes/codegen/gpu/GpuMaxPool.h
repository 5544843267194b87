// GpuMaxPool: the kernels of max pooling and its gradient on channels-last tensors.
//
// A thread has a few neighbouring channels, so that a warp reads whole lines of memory. In the
// gradient, a thread writes a strip of blocks of pixels along the first spatial dim; a block is
// `strides` long along each dim. For each block, the thread evaluates the windows that begin at it
// along the first dim; those longer than their stride also pass their gradient on to the next
// blocks, for which the thread keeps them in registers. No other thread writes these pixels, and
// the windows are added in their order.
#pragma once

#include "passes/codegen/gpu/GpuKernel.h"

namespace cleave::codegen {

// Whether the kernel computes a pool or pool_grad of few elements per window
// (analysis::isSmallMaxPool) on channels-last tensors.
bool isChannelsLastMaxPool(program::KernelOp kernel);

// Emits such a kernel.
void emitMaxPool(GpuKernel &k, program::KernelOp kernel);

} // namespace cleave::codegen
