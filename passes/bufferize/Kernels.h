// Lowers ops to launches of generated kernels: kernel groups, and ops that are a kernel each.
#pragma once

#include "passes/bufferize/ValueViews.h"

namespace cleave::bufferize {

// Launches a kernel group. A result without a destination overwrites an operand that is read here
// last, if the group allows this. On GPUs, a group that reduces long columns has two launches.
void lowerGroup(graph::FusionOp op, ProgramBuilder &program, ValueBuffers &buffers,
                ValueViews &views);

// Launches a kernel on whole tensors in one order.
void lowerDenseKernel(mlir::Operation *op, ProgramBuilder &program, ValueBuffers &buffers,
                      ValueViews &views);

// Launches a kernel that reads any views, and writes its results to these.
void launchOnViews(mlir::Operation *op, llvm::ArrayRef<View> results, ProgramBuilder &program,
                   ValueViews &views);

} // namespace cleave::bufferize
