// Rotary position embedding: rule, cost, plain loops and decomposition (Attention.td).
#include "dialects/graph/Attention.h"
#include "dialects/graph/Pointwise.h"

using namespace mlir;

namespace cleave::graph {

LogicalResult RotaryOp::verify() {
  Shape shape = shapeOf(getOperand());
  std::optional<int64_t> width = shape.empty() ? std::nullopt : shape.back().constant();
  if (!width || *width % 2 != 0) {
    auto diag = emitOpError() << "needs an even last dim, found " << getOperand().getType();
    diag.attachNote(getOperand().getLoc()) << "the operand comes from here";
    return diag;
  }
  return success();
}

FactorRule RotaryOp::getFactorRule() {
  FactorRule rule = pointwiseRule(*this);
  rule.factors.back().kind = FactorKind::Replicated;
  return rule;
}
Polynomial RotaryOp::getFlops() { return elementCount(getType()) * Polynomial(3); }

SmallVector<Tensor> RotaryOp::evaluate(ArrayRef<Tensor> operands) {
  const Tensor &x = operands[0], &cos = operands[1], &sin = operands[2];
  Tensor result(x.type, x.shape);
  int64_t width = x.shape.back(), half = width / 2;
  for (int64_t i = 0; i < x.size(); ++i) {
    int64_t d = i % width;
    bool isFirst = getInterleaved() ? d % 2 == 0 : d < half;
    int64_t distance = getInterleaved() ? 1 : half;
    double other = isFirst ? -x.values[i + distance] : x.values[i - distance];
    result.set(i, x.values[i] * cos.values[i] + other * sin.values[i]);
  }
  return {result};
}

Value buildRotated(OpBuilder &b, Value x, bool interleaved) {
  Location loc = x.getLoc();
  Shape shape = shapeOf(x), pairs = shape;
  int64_t width = *shape.back().constant(), dim = rankOf(x) - 1;
  if (interleaved) {
    pairs.back() = Polynomial(width / 2);
    pairs.push_back(Polynomial(2));
    x = buildReshape(b, x, pairs);
    width = 2;
    dim += 1;
  }
  Shape half = pairs;
  half.back() = Polynomial(width / 2);
  Type type = tensorOf(half, elementTypeOf(x));
  Value first = SliceOp::create(b, loc, type, x, dim, 0, 1);
  Value second = SliceOp::create(b, loc, type, x, dim, width / 2, 1);
  Value turned = ConcatOp::create(b, loc, ValueRange{NegOp::create(b, loc, second), first}, dim);
  return buildReshape(b, turned, shape);
}

SmallVector<Value> RotaryOp::decompose(OpBuilder &b) {
  Value turned = buildRotated(b, getOperand(), getInterleaved());
  Value kept = MulOp::create(b, getLoc(), getOperand(), getCos());
  return {AddOp::create(b, getLoc(), kept, MulOp::create(b, getLoc(), turned, getSin()))};
}

} // namespace cleave::graph
