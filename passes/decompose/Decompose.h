// Decompose: replaces composite ops (softmax, norms, losses, optimizers) by simpler ops.
#pragma once

#include "dialects/interfaces/OpInterfaces.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cleave::decompose {

// Which composite ops stay.
using Keeps = llvm::function_ref<bool(graph::DecompositionInterface)>;
bool keepsNothing(graph::DecompositionInterface op);
// Ops that programs of CPUs, or of GPUs, run as one kernel stay
// (DecompositionInterface::hasKernel).
bool keepsKernels(graph::DecompositionInterface op);
bool keepsGpuKernels(graph::DecompositionInterface op);

// Replaces every op of `function` that has a DecompositionInterface, and every such op among the
// results, until none is left but those that stay. Does not merge common subexpressions; run CSE
// after it.
void decomposeComposites(mlir::func::FuncOp function, Keeps keeps = keepsNothing);

// Registers --cleave-decompose-composites.
void registerDecomposePasses();

} // namespace cleave::decompose
