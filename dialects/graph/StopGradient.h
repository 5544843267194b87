// Gradient stops: the op graph.stop_gradient, and parameters that the model file marks as not
// trained.
#pragma once

#include "dialects/graph/Graph.h"
#include "dialects/graph/SignatureEdit.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#define GET_OP_CLASSES
#include "dialects/graph/StopGradient.h.inc"

namespace cleave::graph {

// Whether the model file marks parameter i of the step as not trained (unit attribute
// graph.frozen).
bool isFrozen(mlir::func::FuncOp step, unsigned i);
// Marks it so.
void setFrozen(mlir::func::FuncOp step, unsigned i);
void setFrozen(SignatureEdit &signature, unsigned i);

// Replaces the op by its operand, and removes a select between the op and its operand, which stops
// gradients conditionally.
void dropGradientStop(StopGradientOp op);
// Drops every stop_gradient, once no gradient is taken of the function (any more).
void dropGradientStops(mlir::func::FuncOp function);

} // namespace cleave::graph
