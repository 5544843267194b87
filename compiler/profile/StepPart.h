// StepPart: the part of a step that an op belongs to.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace cleave::profile {

// The parts of a step.
enum class StepPart { Forward, Backward, Update };

// The part of every op of the step. Forward: the loss, an output or running statistics depend on
// it. Update: it runs once per step. Backward: all other ops.
llvm::DenseMap<mlir::Operation *, StepPart> partsOf(mlir::func::FuncOp step);

} // namespace cleave::profile
