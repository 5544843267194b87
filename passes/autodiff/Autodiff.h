// Reverse-mode differentiation of graph ops. The rules, one table per op family, are in rules/.
#pragma once

#include "mlir/IR/Builders.h"

namespace cleave {

// Builds at the builder's point, which `target` (a float scalar) and all it depends on dominate,
// the gradient of `target` by every value of `wrt`: grads[i] has the type of wrt[i], or is null if
// target does not depend on it through differentiable ops. All values are in one block. Nothing is
// built that the gradients do not need. An op on the way that has no rule is an error, reported at
// its place.
mlir::LogicalResult buildGradients(mlir::OpBuilder &b, mlir::Value target,
                                   llvm::ArrayRef<mlir::Value> wrt,
                                   llvm::SmallVectorImpl<mlir::Value> &grads);

// `--cleave-autodiff-gradients` on functions, for tests: returns the gradients of the first result, a scalar, by all float
// arguments that it depends on, instead of the results.
void registerAutodiffPasses();

} // namespace cleave
