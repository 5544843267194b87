// GpuPoolGrad: the kernel of pool_grad on GPUs.
//
// A block has one plane. Its threads first evaluate all windows, each once, and keep in shared
// memory what a window passes on; then every element of the input adds what the windows that cover
// it pass on to it, in their order.
#pragma once

#include "passes/codegen/gpu/GpuKernel.h"

namespace cleave::codegen {

// Emits the kernel of a pool_grad on dense tensors.
void emitPoolGrad(GpuKernel &k, program::KernelOp kernel);

} // namespace cleave::codegen
