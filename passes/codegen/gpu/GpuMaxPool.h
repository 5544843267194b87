// GpuMaxPool: the kernels of max pooling and its gradient on channels-last tensors.
//
// A thread has a few neighbouring channels, so that a warp reads whole lines of memory. In the
// gradient it writes blocks of pixels, `strides` long along each dim, one after the other along the
// first spatial dim. The windows that begin in a block are evaluated once; they pass their gradient
// on to pixels of their block and, as far as they are longer than their stride, of the next ones.
// Only this thread writes its pixels, and it adds the windows in their order.
#pragma once

#include "passes/codegen/gpu/GpuKernel.h"

namespace cleave::codegen {

// Whether the kernel is a pool or pool_grad that these kernels compute: one whose tensors are
// channels-last (analysis::isSmallMaxPool).
bool isChannelsLastMaxPool(program::KernelOp kernel);

// Emits such a kernel.
void emitMaxPool(GpuKernel &k, program::KernelOp kernel);

} // namespace cleave::codegen
