// PoolEmitter: kernels of pool and pool_grad.
#pragma once

#include "passes/codegen/nest/KernelBuilder.h"

namespace cleave::codegen {

// Emits the kernel of a pool or pool_grad on dense tensors.
void emitPool(KernelBuilder &k, program::KernelOp kernel);

} // namespace cleave::codegen
