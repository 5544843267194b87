// Which part of a step an op belongs to: forward, backward or update.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace cleave::profile {

enum class Part { Forward, Backward, Update };

// Of every op of the step. The forward pass is what the loss, the outputs and the running statistics
// depend on; the update is what happens once a step; the backward pass is the rest.
llvm::DenseMap<mlir::Operation *, Part> partsOf(mlir::func::FuncOp step);

} // namespace cleave::profile
