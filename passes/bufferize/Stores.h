// Stores: the buffers of a step's program, as the planner sees them. The analysis is the lowering
// itself, on the step before it is partitioned: views, results in place of operands, destinations,
// copies and scratch memory are those of the program, and so are the kernels and copies of each op.
#pragma once

#include "compiler/planner/model/StepModel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Support/LLVM.h"

namespace cleave::bufferize {

// Sets the clock, the stores, the ops' runs, kernels and moves, and the values' copies to other
// spaces of `model`, which was read from `step`. On one rank, the most bytes of stores of a space
// at one instant are the peak of the program's arena there, and kernels and moves are its
// instructions. Fails with a diagnostic where bufferize() does, and leaves the step as it is.
mlir::LogicalResult readStores(mlir::func::FuncOp step, planner::StepModel &model);

} // namespace cleave::bufferize
