// ConvolutionEmitter: kernels of convolutions and their gradients that are computed directly
// (dialects/graph/Direct.h).
#pragma once

#include "passes/codegen/nest/KernelBuilder.h"

namespace cleave::codegen {

// Emits the kernel of a conv, conv_input_grad or conv_weight_grad on dense tensors.
void emitConvolution(KernelBuilder &k, program::KernelOp kernel);

} // namespace cleave::codegen
