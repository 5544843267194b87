// SequenceEmitter: kernels of scan and sort.
#pragma once

#include "passes/codegen/nest/KernelBuilder.h"

namespace cleave::codegen {

// Emits the kernel of a scan or sort on dense tensors. A point is a line.
void emitSequence(KernelBuilder &k, program::KernelOp kernel);

} // namespace cleave::codegen
