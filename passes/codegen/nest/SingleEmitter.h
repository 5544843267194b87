// SingleEmitter: kernels of single ops, of every kind that has an emitter.
#pragma once

#include "passes/codegen/nest/KernelBuilder.h"

namespace cleave::codegen {

// Emits the kernel of an op that is no group. Emits an error and fails if there is no emitter for
// it.
mlir::LogicalResult emitSingle(KernelBuilder &k, program::KernelOp kernel);

} // namespace cleave::codegen
