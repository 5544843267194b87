// Lowers attention and its gradient on strided views: to one instruction, or to one kernel on GPUs
// whose library does not compute it.
#pragma once

#include "passes/bufferize/GpuLibraries.h"
#include "passes/bufferize/ValueViews.h"

namespace cleave::bufferize {

// The attention, and its gradient.
void lowerAttention(graph::AttentionOp op, ProgramBuilder &program, ValueBuffers &buffers,
                    ValueViews &views, GpuLibraries &libraries);
void lowerAttentionGrad(graph::AttentionGradOp op, ProgramBuilder &program, ValueBuffers &buffers,
                        ValueViews &views, GpuLibraries &libraries);

} // namespace cleave::bufferize
