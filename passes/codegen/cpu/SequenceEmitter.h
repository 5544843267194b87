// SequenceEmitter: kernels of scan and sort.
#pragma once

#include "passes/codegen/cpu/KernelBuilder.h"

namespace cleave::codegen {

// Emits the kernel of a scan or sort on dense tensors and returns its extent: the number of lines
// along the op's dim.
int64_t emitSequence(KernelBuilder &k, program::KernelOp kernel);

} // namespace cleave::codegen
