// Decomposition: composite ops (softmax, norms, losses, optimizers) replaced by the simpler ops
// that they mean.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace cleave {

// Replaces every op of `function` that has a DecompositionInterface, and those that come out of it,
// until none is left. Common subexpressions are not merged; run CSE after it.
void decomposeComposites(mlir::func::FuncOp function);

// The same as a pass on functions, and its registration as `--cleave-decompose-composites`.
std::unique_ptr<mlir::Pass> createDecomposeCompositesPass();
void registerDecomposePasses();

} // namespace cleave
