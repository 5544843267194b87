// GpuScatter: the kernel of a scatter with many indices on GPUs.
//
// A block has a range of rows of one table and up to kThreads vectors of their columns. It sets
// them to the neutral element and then goes over the indices in tiles: its threads list, in their
// order, those that lie in its rows, and add the updates of the list one after the other. An
// element of the result belongs to one thread, which adds its updates in the order of the indices.
#pragma once

#include "passes/codegen/gpu/GpuKernel.h"

namespace cleave::codegen {

// Emits the kernel of a scatter on dense tensors.
void emitScatter(GpuKernel &k, program::KernelOp kernel);

} // namespace cleave::codegen
