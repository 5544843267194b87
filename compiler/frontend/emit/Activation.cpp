// See Activation.h.
#include "compiler/frontend/emit/Activation.h"

#include "compiler/frontend/emit/Slicing.h"

#include <cmath>

namespace cleave::emit {

using namespace graph;

namespace {

// `yes` where the comparison of x with a number holds, else `no`.
Value where(const Emitter &e, Predicate predicate, Value x, double number, Value yes, Value no) {
  return e.select(e.compare(predicate, x, number), yes, no);
}

// exp(min(x, 0)) - 1: the negative branch of the exponential units, without overflow in the other
// one. At 0 its slope is 1.
Value expBelowZero(const Emitter &e, Value x) {
  return e.sub(e.unary<ExpOp>(where(e, Predicate::GT, x, 0, e.splat(x, 0), x)), 1);
}

} // namespace

Value relu(const Emitter &e, Value x) {
  e.checkFloat(x);
  return e.unary<ReluOp>(x);
}

Value hardTanh(const Emitter &e, Value x, double low, double high) {
  return clamped(e, x, low, high);
}

// The slope at the bounds is 0.
Value clamped(const Emitter &e, Value x, std::optional<double> low, std::optional<double> high) {
  if (low)
    x = where(e, Predicate::LE, x, *low, e.splat(x, *low), x);
  if (high)
    x = where(e, Predicate::GE, x, *high, e.splat(x, *high), x);
  return x;
}

Value sigmoid(const Emitter &e, Value x) {
  e.checkFloat(x);
  return e.unary<SigmoidOp>(x);
}

Value logSigmoid(const Emitter &e, Value x) { return e.neg(softplus(e, e.neg(x))); }

Value silu(const Emitter &e, Value x, double alpha) {
  e.checkFloat(x);
  return alpha == 1 ? e.unary<SiluOp>(x) : e.mul(x, sigmoid(e, e.mul(x, alpha)));
}

Value gelu(const Emitter &e, Value x, bool byTanh) {
  e.checkFloat(x);
  return GeluOp::create(e.b, e.loc, x.getType(), x, byTanh);
}

Value leakyRelu(const Emitter &e, Value x, double slope) {
  e.checkFloat(x);
  return where(e, Predicate::GT, x, 0, x, e.mul(x, slope));
}

Value prelu(const Emitter &e, Value x, Value slope) {
  e.checkFloat(x);
  e.checkSameType(x, slope);
  slope = e.broadcast(slope, shapeOf(x));
  return where(e, Predicate::GT, x, 0, x, e.mul(x, slope));
}

Value elu(const Emitter &e, Value x, double alpha) {
  e.checkFloat(x);
  return where(e, Predicate::GT, x, 0, x, e.mul(expBelowZero(e, x), alpha));
}

Value celu(const Emitter &e, Value x, double alpha) {
  e.checkFloat(x);
  Value below = e.mul(expBelowZero(e, e.div(x, alpha)), alpha);
  return where(e, Predicate::GT, x, 0, x, below);
}

Value selu(const Emitter &e, Value x, double alpha, double gamma) {
  return e.mul(elu(e, x, alpha), gamma);
}

// max(x, 0) + log(1 + exp(-|x|)), where both summands have the slope from above at 0: together 1/2.
Value softplus(const Emitter &e, Value x, double beta, double threshold) {
  e.checkFloat(x);
  Value scaled = beta == 1 ? x : e.mul(x, beta);
  Value isBelow = e.compare(Predicate::LT, scaled, 0);
  Value small = e.unary<ExpOp>(e.select(isBelow, scaled, e.neg(scaled)));
  Value above = e.select(isBelow, e.splat(scaled, 0), scaled);
  Value soft = e.add(above, e.unary<LogOp>(e.add(small, 1)));
  if (beta != 1)
    soft = e.div(soft, beta);
  // Beyond this bound the logarithm does not change a float32, and the result is x.
  constexpr double invisible = 20;
  return threshold < invisible ? where(e, Predicate::GT, scaled, threshold, x, soft) : soft;
}

Value softsign(const Emitter &e, Value x) {
  e.checkFloat(x);
  return e.div(x, e.add(e.abs(x), 1));
}

Value mish(const Emitter &e, Value x) { return e.mul(x, e.unary<TanhOp>(softplus(e, x))); }

Value hardSigmoid(const Emitter &e, Value x, double alpha, double beta) {
  e.checkFloat(x);
  return clamped(e, e.add(e.mul(x, alpha), beta), 0, 1);
}

Value hardSwish(const Emitter &e, Value x) { return e.mul(x, hardSigmoid(e, x, 1.0 / 6, 0.5)); }

Value thresholdedRelu(const Emitter &e, Value x, double alpha, double below) {
  e.checkFloat(x);
  return where(e, Predicate::GT, x, alpha, x, e.splat(x, below));
}

Value shrink(const Emitter &e, Value x, double lambda, double bias) {
  Value inner = where(e, Predicate::LT, x, -lambda, e.add(x, bias), e.splat(x, 0));
  return where(e, Predicate::GT, x, lambda, e.sub(x, bias), inner);
}

Value glu(const Emitter &e, Value x, int64_t dim) {
  Values halves = split(e, x, dim, piecesBy(e, shapeOf(x)[dim], 2, false));
  return e.mul(halves[0], sigmoid(e, halves[1]));
}

// -- trigonometry ---------------------------------------------------------------------------------

Value tangent(const Emitter &e, Value x) {
  e.checkFloat(x);
  return e.div(e.unary<SinOp>(x), e.unary<CosOp>(x));
}

// 2 atan(x / (1 + sqrt((1 - x) (1 + x)))), whose divisor is at least 1.
Value arcSine(const Emitter &e, Value x) {
  e.checkFloat(x);
  Value root = e.unary<SqrtOp>(e.mul(e.sub(1, x), e.add(x, 1)));
  return e.mul(e.unary<AtanOp>(e.div(x, e.add(root, 1))), 2);
}

Value arcCosine(const Emitter &e, Value x) { return e.sub(M_PI_2, arcSine(e, x)); }

// The angle to the nearer axis, by atan(y / x) or atan(x / y) of an argument in [-1, 1], plus the
// angle of the axis; 0 for (0, 0), where it has no slope.
Value arcTangent2(const Emitter &e, Value y, Value x) {
  e.checkFloat(y);
  e.checkSameType(y, x);
  e.broadcastTogether(y, x);
  Value isSteep = e.compare(Predicate::GT, e.abs(y), e.abs(x));
  Value above = e.select(isSteep, x, y), below = e.select(isSteep, y, x);
  Value isOrigin = e.compare(Predicate::EQ, below, 0); // only where both are 0
  Value slope = e.div(above, e.select(isOrigin, e.splat(below, 1), below));
  Value angle = e.unary<AtanOp>(e.select(isOrigin, e.splat(slope, 0), slope));
  Value half = where(e, Predicate::LT, y, 0, e.splat(y, -M_PI), e.splat(y, M_PI));
  Value flat = e.add(angle, where(e, Predicate::LT, x, 0, half, e.splat(x, 0)));
  return e.select(isSteep, e.sub(e.mul(half, 0.5), angle), flat);
}

// (exp(x) ± exp(-x)) / 2.
Value hyperbolicSine(const Emitter &e, Value x) {
  e.checkFloat(x);
  return e.mul(e.sub(e.unary<ExpOp>(x), e.unary<ExpOp>(e.neg(x))), 0.5);
}
Value hyperbolicCosine(const Emitter &e, Value x) {
  e.checkFloat(x);
  return e.mul(e.add(e.unary<ExpOp>(x), e.unary<ExpOp>(e.neg(x))), 0.5);
}

// sign(x) log(|x| + sqrt(x^2 + 1)), without cancellation for negative x.
Value areaSine(const Emitter &e, Value x) {
  e.checkFloat(x);
  Value size = where(e, Predicate::LT, x, 0, e.neg(x), x); // |x| with slope 1 at 0
  Value area = e.unary<LogOp>(e.add(size, e.unary<SqrtOp>(e.add(e.mul(x, x), 1))));
  return where(e, Predicate::LT, x, 0, e.neg(area), area);
}

// log(x + sqrt(x^2 - 1)).
Value areaCosine(const Emitter &e, Value x) {
  e.checkFloat(x);
  Value root = e.unary<SqrtOp>(e.sub(e.mul(x, x), 1));
  return e.unary<LogOp>(e.add(x, root));
}

// log((1 + x) / (1 - x)) / 2.
Value areaTangent(const Emitter &e, Value x) {
  e.checkFloat(x);
  return e.mul(e.unary<LogOp>(e.div(e.add(x, 1), e.sub(1, x))), 0.5);
}

} // namespace cleave::emit
