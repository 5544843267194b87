// Decompose: replaces composite ops (softmax, norms, losses, optimizers) by simpler ops.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cleave::decompose {

// Replaces every op of `function` that has a DecompositionInterface, and every such op among the
// results, until none is left. Does not merge common subexpressions; run CSE after it.
void decomposeComposites(mlir::func::FuncOp function);

// Registers --cleave-decompose-composites.
void registerDecomposePasses();

} // namespace cleave::decompose
