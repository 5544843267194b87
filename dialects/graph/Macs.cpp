// See Macs.h.
#include "dialects/graph/Macs.h"

using namespace mlir;

namespace cleave::graph {
namespace {

bool isProduct(Operation *op) { return op && op->hasTrait<MatrixProduct>(); }

// Whether all elements are one number.
bool isScalar(Value value) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  return rankOf(value) == 0 || (broadcast && rankOf(broadcast.getOperand()) == 0);
}

// The operand of a product with one number; null for other ops.
Value scaledBy(Operation *op) {
  if (isa_and_nonnull<MulOp>(op))
    for (int i : {0, 1})
      if (isScalar(op->getOperand(1 - i)))
        return op->getOperand(i);
  return {};
}

// The op that computes a value, ignoring changes of shape, dim order and element type, and scaling
// by a number.
Operation *sourceOf(Value value) {
  Operation *op = value.getDefiningOp();
  while (true) {
    if (Value scaled = scaledBy(op))
      op = scaled.getDefiningOp();
    else if (op && (op->hasTrait<DimRearrangement>() || isa<CastOp>(op)))
      op = op->getOperand(0).getDefiningOp();
    else
      return op;
  }
}

// Whether the op adds a bias to a product, or scales a product or a sum: both are part of its
// multiply-accumulates.
bool isPartOfSum(Operation *op) {
  if (Value scaled = scaledBy(op))
    return isProduct(sourceOf(scaled)) || isa_and_nonnull<ReduceOp>(sourceOf(scaled));
  if (!isa<AddOp>(op))
    return false;
  for (int i : {0, 1})
    if (isProduct(sourceOf(op->getOperand(i))) &&
        isa_and_nonnull<BroadcastOp>(sourceOf(op->getOperand(1 - i))))
      return true;
  return false;
}

// Those of both products, and one per score for softmax, the bias and dropout each.
Polynomial macsOfAttention(AttentionOp op) {
  Shape queries = shapeOf(op.getQuery()), keys = shapeOf(op.getKey());
  Polynomial scores = keys[keys.size() - 2];
  for (const Polynomial &dim : llvm::ArrayRef(queries).drop_back())
    scores *= dim;
  return scores * (queries.back() + shapeOf(op.getValue()).back() + 1 + (op.getBias() ? 1 : 0) +
                   (op.getDropout() ? 1 : 0));
}

} // namespace

Polynomial macsOf(Operation *op) {
  if (auto attention = dyn_cast<AttentionOp>(op))
    return macsOfAttention(attention);
  auto cost = dyn_cast<CostInterface>(op);
  if (!cost || op->getNumOperands() == 0 || isPartOfSum(op))
    return 0;
  Polynomial flops = cost.getFlops();
  if (isProduct(op))
    return flops.dividedBy(2).value_or(flops); // a number that saturated is odd
  if (flops == Polynomial(0))
    return 0;
  Polynomial elements = elementCount(op->getOperand(0).getType());
  return op->hasTrait<Normalization>() ? elements * Polynomial(5) : elements;
}

} // namespace cleave::graph
