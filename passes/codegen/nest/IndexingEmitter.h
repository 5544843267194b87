// IndexingEmitter: kernels of gather and scatter.
#pragma once

#include "passes/codegen/nest/KernelBuilder.h"

namespace cleave::codegen {

// Emits the kernel of a gather or scatter on dense tensors. Gather is split over the rows that it
// writes; scatter over the rows of its result or the blocks around them, so that parts write to
// disjoint elements, each in the order of the updates.
void emitIndexing(KernelBuilder &k, program::KernelOp kernel);

} // namespace cleave::codegen
