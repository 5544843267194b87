// Kernels of gather and scatter_add.
#pragma once

#include "passes/codegen/cpu/KernelBuilder.h"

namespace cleave::codegen {

// Emits the kernel of a gather or scatter_add on dense tensors and returns its extent: gather is
// split over the rows that it writes; scatter_add over the rows of its result, so that every part
// adds to its own rows only.
int64_t emitIndexing(KernelBuilder &k, program::KernelOp kernel);

} // namespace cleave::codegen
