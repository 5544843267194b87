// GpuGroupedMatmul: kernels of grouped_matmul and grouped_weight_grad on GPUs.
//
//   grouped_matmul       a block has a tile of the rows of one group, and multiplies them by the
//                        weights of the group
//   grouped_weight_grad  a block has a tile of the weights of one group, and sums over its rows
//
// The ends of the groups are data, but the number of blocks is not: there are enough of them for
// every case, and a block finds its rows by a search over the ends. Blocks without rows leave.
//
// A block checks all ends. If they are not ascending or not rows, which CPUs refuse, all results
// are NaN.
#pragma once

#include "passes/codegen/gpu/GpuKernel.h"

namespace cleave::codegen {

// Emits the kernel. Tensors may lie in memory anyhow.
void emitGroupedMatmul(GpuKernel &k, program::KernelOp kernel);

} // namespace cleave::codegen
