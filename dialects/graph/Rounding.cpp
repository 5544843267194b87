// See Rounding.h.
#include "dialects/graph/Rounding.h"

using namespace mlir;

namespace cleave::graph {

OperandRange factorsOf(Operation *op) {
  assert(op->hasTrait<MatrixProduct>() && "only products have factors");
  if (isa<AttentionOp>(op))
    return op->getOperands().take_front(3);
  return isa<GroupedMatmulOp, GroupedWeightGradOp>(op) ? op->getOperands().take_front(2)
                                                       : op->getOperands();
}

bool isAngleFunction(Operation *op) { return isa<SinOp, CosOp>(op); }

bool hasBoundedResult(Operation *op) {
  return isa<SinOp, CosOp, TanhOp, AtanOp, ErfOp, SigmoidOp, SoftmaxOp, RandomOp>(op);
}

} // namespace cleave::graph
