// GpuAttentionGrad: the gradient's part of GpuAttention.h.
#pragma once

#include "passes/codegen/gpu/GpuKernel.h"

namespace cleave::codegen {

// Emits the kernel of an attention_grad without a gradient of the bias.
void emitAttentionGrad(GpuKernel &k, program::KernelOp kernel, graph::AttentionGradOp op);

} // namespace cleave::codegen
