// Lowers convolutions and their gradients to one instruction.
#pragma once

#include "passes/bufferize/GpuLibraries.h"
#include "passes/bufferize/ValueViews.h"

namespace cleave::bufferize {

// Adds the instruction of a graph.conv, conv_input_grad or conv_weight_grad.
void lowerConvolution(mlir::Operation *op, ProgramBuilder &program, ValueViews &views,
                      GpuLibraries &libraries);

} // namespace cleave::bufferize
