// Where gradients end: the op, and parameters that the model file says are not trained.
#pragma once

#include "dialects/graph/Graph.h"
#include "dialects/graph/SignatureEdit.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#define GET_OP_CLASSES
#include "dialects/graph/StopGradient.h.inc"

namespace cleave::graph {

// Whether the model file says that argument i of the step, a parameter, is not trained (graph.frozen, a unit).
bool isFrozen(mlir::func::FuncOp step, unsigned i);
void setFrozen(mlir::func::FuncOp step, unsigned i);
void setFrozen(SignatureEdit &signature, unsigned i);

// Replaces the op by its operand. A select between both, which cuts a gradient where its condition says so, goes, too.
void dropGradientStop(StopGradientOp op);
// Drops every stop_gradient: for functions of which no gradient is taken (any more).
void dropGradientStops(mlir::func::FuncOp function);

} // namespace cleave::graph
