// See Macs.h.
#include "dialects/graph/Macs.h"

using namespace mlir;

namespace cleave::graph {
namespace {

// What an op computes from, whatever shape or order it was brought into.
Operation *sourceOf(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa_and_nonnull<ReshapeOp, TransposeOp, CastOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return op;
}

bool isProduct(Operation *op) {
  return isa_and_nonnull<DotGeneralOp, ConvOp, ConvInputGradOp, ConvWeightGradOp>(op);
}

// Whether all elements are one number.
bool isScalar(Value value) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  return rankOf(value) == 0 || (broadcast && rankOf(broadcast.getOperand()) == 0);
}

// A bias begins the sums of a product, and the factor that makes a mean of a sum ends it: neither is
// a multiply-accumulate of its own.
bool isPartOfSum(Operation *op) {
  if (!isa<AddOp, MulOp>(op))
    return false;
  for (int i : {0, 1}) {
    Operation *source = sourceOf(op->getOperand(i));
    Value other = op->getOperand(1 - i);
    if (isa<AddOp>(op) && isProduct(source) && isa_and_nonnull<BroadcastOp>(sourceOf(other)))
      return true;
    if (isa<MulOp>(op) && isa_and_nonnull<ReduceOp>(source) && isScalar(other))
      return true;
  }
  return false;
}

} // namespace

Polynomial macsOf(Operation *op) {
  auto cost = dyn_cast<CostInterface>(op);
  if (!cost || op->getNumOperands() == 0 || isPartOfSum(op))
    return 0;
  Polynomial flops = cost.getFlops();
  if (isProduct(op))
    return *flops.dividedBy(2);
  if (flops == Polynomial(0))
    return 0;
  Polynomial elements = elementCount(op->getOperand(0).getType());
  return isa<LayerNormOp, RmsNormOp, BatchNormOp>(op) ? elements * Polynomial(5) : elements;
}

} // namespace cleave::graph
