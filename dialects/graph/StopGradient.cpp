// See StopGradient.h.
#include "dialects/graph/StopGradient.h"

#include "dialects/graph/Pointwise.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/graph/StopGradient.cpp.inc"

namespace cleave::graph {

FactorRule StopGradientOp::getFactorRule() {
  FactorRule rule = pointwiseRule(*this);
  rule.linear = true;
  return rule;
}
Polynomial StopGradientOp::getFlops() { return 0; }
SmallVector<Tensor> StopGradientOp::evaluate(ArrayRef<Tensor> operands) { return {operands[0]}; }
SmallVector<Value> StopGradientOp::decompose(OpBuilder &) { return {getOperand()}; }

bool isFrozen(func::FuncOp step, unsigned i) { return bool(step.getArgAttr(i, "graph.frozen")); }

void setFrozen(func::FuncOp step, unsigned i) {
  step.setArgAttr(i, "graph.frozen", UnitAttr::get(step.getContext()));
}

void setFrozen(SignatureEdit &signature, unsigned i) {
  signature.setArgAttr(i, "graph.frozen", UnitAttr::get(signature.context()));
}

void dropGradientStops(func::FuncOp function) {
  function.walk([](StopGradientOp op) {
    op->replaceAllUsesWith(ValueRange{op.getOperand()});
    op->erase();
  });
}

} // namespace cleave::graph
