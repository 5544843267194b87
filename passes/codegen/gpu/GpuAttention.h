// GpuAttention: kernels of attention and attention_grad on GPUs. The scores are never stored; tiles
// of queries and keys are computed where they are needed (Milakov and Gimelshein 2018; Dao et al.
// 2022). All sums are f32 and have a fixed order.
//
//   attention       a block has 64 queries of a head and visits the keys
//   attention_grad  some blocks have 64 keys of a group and visit the queries of its heads, the
//                   others 64 queries of a head and visit the keys; both recompute the weights
//
// Tiles that a causal mask hides are skipped where they change nothing. In 16-bit floats, weights
// and gradients of scores are rounded before they are multiplied (Dao, FlashAttention-2, 2023).
#pragma once

#include "passes/codegen/gpu/GpuKernel.h"

namespace cleave::codegen {

// Emits the kernel of an attention or attention_grad without a gradient of the bias. Tensors may
// lie in memory anyhow.
void emitAttention(GpuKernel &k, program::KernelOp kernel);

} // namespace cleave::codegen
