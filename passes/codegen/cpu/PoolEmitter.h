// PoolEmitter: kernels of pool and pool_grad.
#pragma once

#include "passes/codegen/cpu/KernelBuilder.h"

namespace cleave::codegen {

// Emits the kernel of a pool or pool_grad on dense tensors and returns its extent: planes, one for
// each image and channel.
int64_t emitPool(KernelBuilder &k, program::KernelOp kernel);

} // namespace cleave::codegen
