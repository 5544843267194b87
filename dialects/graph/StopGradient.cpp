// See StopGradient.h.
#include "dialects/graph/StopGradient.h"

#include "dialects/graph/Pointwise.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

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

void dropGradientStop(StopGradientOp op) {
  Value value = op.getOperand();
  llvm::SmallSetVector<Operation *, 4> users; // each once, however often it uses the result
  users.insert_range(op->getUsers());
  op->replaceAllUsesWith(ValueRange{value});
  op->erase();
  for (Operation *user : users)
    if (auto select = dyn_cast<SelectOp>(user);
        select && select.getOnTrue() == value && select.getOnFalse() == value) {
      select->replaceAllUsesWith(ValueRange{value});
      select->erase();
    }
}

void dropGradientStops(func::FuncOp function) {
  SmallVector<StopGradientOp> stops;
  function.walk([&](StopGradientOp op) { stops.push_back(op); });
  for (StopGradientOp stop : stops)
    dropGradientStop(stop);
}

} // namespace cleave::graph

#define GET_OP_CLASSES
#include "dialects/graph/StopGradient.cpp.inc"

void cleave::graph::GraphDialect::addStopGradientOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/graph/StopGradient.cpp.inc"
      >();
}
