// Autodiff: reverse-mode differentiation of graph ops. The rules, one table per op family, are in
// rules/.
#pragma once

#include "mlir/IR/Builders.h"

namespace cleave::autodiff {

// Builds the gradient of `target`, a float scalar, by every value of `wrt` at the builder's point,
// which `target` and all values that it depends on dominate. All values are in one block. Appends
// to `grads` one value per value of `wrt`, of its type: 0 where target depends on it through ops
// whose slope is 0 (floor), as in PyTorch; null where it does not depend on it, or through
// comparisons and integers alone. Builds no op that the gradients do not need. Reports an error at
// an op between them that has no rule.
mlir::LogicalResult buildGradients(mlir::OpBuilder &b, mlir::Value target,
                                   llvm::ArrayRef<mlir::Value> wrt,
                                   llvm::SmallVectorImpl<mlir::Value> &grads);

// Registers --cleave-autodiff-gradients.
void registerAutodiffPasses();

} // namespace cleave::autodiff
