// Optimizer: SGD and Adam, both as arithmetic on doubles (evaluation) and as ops (decomposition).
#include "dialects/graph/Build.h"
#include "dialects/graph/Pointwise.h"

#include <cmath>

using namespace mlir;

namespace cleave::graph {

// The rule of an elementwise op with one scalar operand, the step counter (operand `stepIndex`).
static FactorRule updateRule(Operation *op, size_t stepIndex) {
  FactorRule rule = pointwiseRule(op);
  rule.operands[stepIndex] = {};
  return rule;
}
FactorRule SgdOp::getFactorRule() { return updateRule(*this, 3); }
FactorRule AdamOp::getFactorRule() { return updateRule(*this, 4); }
Polynomial SgdOp::getFlops() { return elementCount(getParameter().getType()) * Polynomial(5); }
Polynomial AdamOp::getFlops() { return elementCount(getParameter().getType()) * Polynomial(14); }

SmallVector<Tensor> SgdOp::evaluate(ArrayRef<Tensor> operands) {
  Tensor p = operands[0], v = operands[2];
  double lr = getLr().convertToDouble(), momentum = getMomentum().convertToDouble();
  double dampening = getDampening().convertToDouble(), decay = getWeightDecay().convertToDouble();
  bool first = operands[3].values[0] <= 1;
  for (int64_t i = 0; i < p.size(); ++i) {
    double g = operands[1].values[i] + decay * p.values[i];
    v.set(i, first ? g : momentum * v.values[i] + (1 - dampening) * g);
    p.set(i, p.values[i] - lr * (getNesterov() ? g + momentum * v.values[i] : v.values[i]));
  }
  return {p, v};
}

SmallVector<Tensor> AdamOp::evaluate(ArrayRef<Tensor> operands) {
  Tensor p = operands[0], m = operands[2], v = operands[3];
  double lr = getLr().convertToDouble(), decay = getWeightDecay().convertToDouble();
  double beta1 = getBeta1().convertToDouble(), beta2 = getBeta2().convertToDouble();
  double step = operands[4].values[0];
  for (int64_t i = 0; i < p.size(); ++i) {
    double value = getDecoupled() ? p.values[i] * (1 - lr * decay) : p.values[i];
    double g = operands[1].values[i] + (getDecoupled() ? 0 : decay * p.values[i]);
    m.set(i, beta1 * m.values[i] + (1 - beta1) * g);
    v.set(i, beta2 * v.values[i] + (1 - beta2) * g * g);
    double mean = m.values[i] / (1 - std::pow(beta1, step));
    double square = v.values[i] / (1 - std::pow(beta2, step));
    p.set(i, value - lr * mean / (std::sqrt(square) + getEps().convertToDouble()));
  }
  return {p, m, v};
}

namespace {
// Builds formulas on tensors of one shape.
struct Formula {
  OpBuilder &b;
  Location loc;
  Value add(Value x, Value y) { return AddOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return SubOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return MulOp::create(b, loc, x, y); }
  Value div(Value x, Value y) { return DivOp::create(b, loc, x, y); }
  Value scale(Value x, double factor) { return mul(x, buildSplatLike(b, x, factor)); }
  Value spread(Value scalar, Value like) { return buildBroadcast(b, loc, scalar, shapeOf(like)); }
  Value spreadAs(Value scalar, Value like) {
    return spread(buildCast(b, scalar, elementTypeOf(like)), like);
  }
  // 1 / (1 - beta^step) as a scalar of the step counter's type. That is double, since 1 - 0.999 in
  // float loses five digits.
  Value correction(double beta, Value step) {
    Value power = PowOp::create(b, loc, buildSplatLike(b, step, beta), step);
    Value one = buildSplatLike(b, step, 1);
    return div(one, sub(one, power));
  }
};
} // namespace

SmallVector<Value> SgdOp::decompose(OpBuilder &b) {
  Formula f{b, getLoc()};
  double lr = getLr().convertToDouble(), momentum = getMomentum().convertToDouble();
  double dampening = getDampening().convertToDouble(), decay = getWeightDecay().convertToDouble();
  Value p = getParameter(), g = getGradient();
  if (decay != 0)
    g = f.add(g, f.scale(p, decay));
  if (momentum == 0)
    return {f.sub(p, f.scale(g, lr)), getVelocity()};
  Value later = f.add(f.scale(getVelocity(), momentum), f.scale(g, 1 - dampening));
  Value isFirst =
      CompareOp::create(b, getLoc(), Predicate::LE, getStep(), buildSplatLike(b, getStep(), 1));
  Value v = SelectOp::create(b, getLoc(), f.spread(isFirst, g), g, later);
  Value direction = getNesterov() ? f.add(g, f.scale(v, momentum)) : v;
  return {f.sub(p, f.scale(direction, lr)), v};
}

SmallVector<Value> AdamOp::decompose(OpBuilder &b) {
  Formula f{b, getLoc()};
  double lr = getLr().convertToDouble(), decay = getWeightDecay().convertToDouble();
  double beta1 = getBeta1().convertToDouble(), beta2 = getBeta2().convertToDouble();
  Value p = getParameter(), g = getGradient();
  if (decay != 0 && !getDecoupled())
    g = f.add(g, f.scale(p, decay));
  Value m = f.add(f.scale(getFirstMoment(), beta1), f.scale(g, 1 - beta1));
  Value v = f.add(f.scale(getSecondMoment(), beta2), f.scale(f.mul(g, g), 1 - beta2));
  Value mean = f.mul(m, f.spreadAs(f.correction(beta1, getStep()), m));
  Value square = f.mul(v, f.spreadAs(f.correction(beta2, getStep()), v));
  Value root = SqrtOp::create(b, getLoc(), square);
  Value denominator = f.add(root, buildSplatLike(b, root, getEps().convertToDouble()));
  Value kept = decay != 0 && getDecoupled() ? f.scale(p, 1 - lr * decay) : p;
  return {f.sub(kept, f.scale(f.div(mean, denominator), lr)), m, v};
}

} // namespace cleave::graph

#define GET_OP_CLASSES
#include "dialects/graph/Optimizer.cpp.inc"

void cleave::graph::GraphDialect::addOptimizerOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/graph/Optimizer.cpp.inc"
      >();
}
