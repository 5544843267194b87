// Gradients of the elementwise ops: one formula each, in the operands, the result y and its
// gradient dy.
#include "passes/autodiff/rules/Rules.h"

#include <cmath>

using namespace cleave::graph;
using namespace mlir;

namespace cleave::autodiff {

// dx of y = f(x).
template <typename Op>
static void unary(RuleTable &table, Term (*formula)(Term x, Term y, Term dy)) {
  table.add<Op>([formula](Op op, Term dy) -> Gradients {
    return {formula({dy.b, op.getOperand()}, {dy.b, op.getResult()}, dy)};
  });
}

// (dx, dz) of y = f(x, z).
template <typename Op>
static void binary(RuleTable &table,
                   std::pair<Term, Term> (*formula)(Term x, Term z, Term y, Term dy)) {
  table.add<Op>([formula](Op op, Term dy) -> Gradients {
    auto [dx, dz] = formula({dy.b, op.getLhs()}, {dy.b, op.getRhs()}, {dy.b, op.getResult()}, dy);
    return {dx, dz};
  });
}

// y does not change where it is differentiable.
template <typename Op> static void flat(RuleTable &table) {
  table.add<Op>([](Op op, Term) -> Gradients { return Gradients(op->getNumOperands()); });
}

static void addUnaryRules(RuleTable &t) {
  unary<NegOp>(t, [](Term x, Term y, Term dy) { return -dy; });
  unary<AbsOp>(t, [](Term x, Term y, Term dy) { return select(x > 0, dy, select(x < 0, -dy, 0)); });
  unary<ExpOp>(t, [](Term x, Term y, Term dy) { return dy * y; });
  unary<LogOp>(t, [](Term x, Term y, Term dy) { return dy / x; });
  unary<Expm1Op>(t, [](Term x, Term y, Term dy) { return dy * (y + 1); });
  unary<Log1pOp>(t, [](Term x, Term y, Term dy) { return dy / (x + 1); });
  unary<SqrtOp>(t, [](Term x, Term y, Term dy) { return dy * 0.5 / y; });
  unary<RsqrtOp>(t, [](Term x, Term y, Term dy) { return dy * -0.5 * (y * y * y); });
  unary<SinOp>(t, [](Term x, Term y, Term dy) { return dy * cos(x); });
  unary<CosOp>(t, [](Term x, Term y, Term dy) { return dy * -sin(x); });
  unary<TanhOp>(t, [](Term x, Term y, Term dy) { return dy * (1 - y * y); });
  unary<AtanOp>(t, [](Term x, Term y, Term dy) { return dy / (x * x + 1); });
  unary<ErfOp>(t, [](Term x, Term y, Term dy) { return dy * M_2_SQRTPI * exp(-(x * x)); });
  flat<FloorOp>(t);
  flat<CeilOp>(t);
  flat<RoundOp>(t);
}

// dy to the operand that `wins` chooses; where they are equal, half to each.
static Term share(Term wins, Term equal, Term dy) {
  return select(wins, dy, select(equal, dy * 0.5, 0));
}

static std::pair<Term, Term> power(Term x, Term z, Term y, Term dy) {
  if (splatValue(z) == 2.0)
    return {dy * 2 * x, dy};
  Term slope = select(z == 0, z.splat(0), z * pow(x, z - 1)); // also where x is 0
  Term growth = select(x == 0, x.splat(0), y * log(x));
  return {dy * slope, dy * growth};
}

static void addBinaryRules(RuleTable &t) {
  using Pair = std::pair<Term, Term>;
  binary<AddOp>(t, [](Term x, Term z, Term y, Term dy) -> Pair { return {dy, dy}; });
  binary<SubOp>(t, [](Term x, Term z, Term y, Term dy) -> Pair { return {dy, -dy}; });
  binary<MulOp>(t, [](Term x, Term z, Term y, Term dy) -> Pair { return {dy * z, dy * x}; });
  binary<DivOp>(t, [](Term x, Term z, Term y, Term dy) -> Pair {
    Term dx = dy / z;
    return {dx, -(dx * y)};
  });
  binary<MaxOp>(t, [](Term x, Term z, Term y, Term dy) -> Pair {
    return {share(x > z, x == z, dy), share(z > x, x == z, dy)};
  });
  binary<MinOp>(t, [](Term x, Term z, Term y, Term dy) -> Pair {
    return {share(x < z, x == z, dy), share(z < x, x == z, dy)};
  });
  binary<RemOp>(
      t, [](Term x, Term z, Term y, Term dy) -> Pair { return {dy, -(dy * ((x - y) / z))}; });
  binary<PowOp>(t, power);
}

// The bell curve's integral and its slope are written as gelu's decomposition writes them, so that
// the forward pass's values are shared.
static Gradients gelu(GeluOp op, Term dy) {
  Term x{dy.b, op.getOperand()};
  if (!op.getTanh()) {
    Term weight = (erf(x * M_SQRT1_2) + 1) * 0.5;
    return {dy * (weight + x * exp(x * x * -0.5) * (0.5 * M_SQRT1_2 * M_2_SQRTPI))};
  }
  const double slope = std::sqrt(2 / M_PI), cubic = 0.044715;
  Term square = x * x;
  Term bell = tanh((x + x * square * cubic) * slope);
  Term bellSlope = (1 - bell * bell) * (square * (3 * cubic * slope) + slope);
  return {dy * ((bell + 1) * 0.5 + x * bellSlope * 0.5)};
}

static Gradients silu(SiluOp op, Term dy) {
  Term x{dy.b, op.getOperand()}, y{dy.b, op.getResult()};
  Term s = x.apply<SigmoidOp>();
  return {dy * (s + y * (1 - s))};
}

static Gradients quickGelu(QuickGeluOp op, Term dy) {
  Term x{dy.b, op.getOperand()}, y{dy.b, op.getResult()};
  Term s = (x * 1.702).apply<SigmoidOp>();
  return {dy * (s + y * (1 - s) * 1.702)};
}

static Gradients castRule(CastOp op, Term dy) {
  Type element = elementTypeOf(op.getOperand());
  if (!isa<FloatType>(element))
    return {Value()};
  return {cast(dy, element)};
}

void addElementwiseRules(RuleTable &t) {
  addUnaryRules(t);
  addBinaryRules(t);
  t.add<CastOp>(castRule);
  t.add<SelectOp>([](SelectOp op, Term dy) -> Gradients {
    Term condition{dy.b, op.getCondition()};
    return {Value(), select(condition, dy, 0), select(condition, dy.splat(0), dy)};
  });
  t.add<DropoutOp>([](DropoutOp op, Term dy) -> Gradients {
    if (!op.getSeed())
      return {dy};
    Value dx = DropoutOp::create(*dy.b, dy.value.getType(), dy, op.getSeed(), op.getRateAttr());
    return {dx, Value()};
  });
  unary<ReluOp>(t, [](Term x, Term y, Term dy) { return select(y > 0, dy, 0); });
  unary<SigmoidOp>(t, [](Term x, Term y, Term dy) { return dy * (y * (1 - y)); });
  t.add<SiluOp>(silu);
  t.add<GeluOp>(gelu);
  t.add<QuickGeluOp>(quickGelu);
}

} // namespace cleave::autodiff
