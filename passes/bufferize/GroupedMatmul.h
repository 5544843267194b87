// Lowers products of groups of rows on strided views: one instruction of CPUs, one kernel of GPUs.
#pragma once

#include "passes/bufferize/ValueViews.h"

namespace cleave::bufferize {

// The product, and the gradient of its weights.
void lowerGroupedMatmul(graph::GroupedMatmulOp op, ProgramBuilder &program, ValueBuffers &buffers,
                        ValueViews &views);
void lowerGroupedWeightGrad(graph::GroupedWeightGradOp op, ProgramBuilder &program,
                            ValueBuffers &buffers, ValueViews &views);

} // namespace cleave::bufferize
