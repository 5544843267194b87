// Special functions of one and two numbers, and comparisons that need more than one op.
#include "compiler/frontend/aten/OpCall.h"
#include "compiler/frontend/emit/Activation.h"
#include "compiler/frontend/emit/Elementwise.h"

#include <cmath>

namespace cleave::aten {
namespace {

using emit::Emitter;
using emit::Predicate;

struct FloatPair {
  Array x, y;
};

// Both operands in one type of floating-point numbers and one shape.
FloatPair floatPair(OpCall &c) {
  ElementType type = c.floatType(promotedType(c, {c["self"], c["other"]}));
  FloatPair out{c.readAs(c["self"], type), c.readAs(c["other"], type)};
  c.e.broadcastTogether(out.x, out.y);
  return out;
}

Array both(const Emitter &e, Array a, Array b) { return e.binary<graph::AndOp>(a, b); }
Array either(const Emitter &e, Array a, Array b) { return e.binary<graph::OrOp>(a, b); }

// -- of one number --------------------------------------------------------------------------------

// How far erf(y) is beyond x, in steps of y.
Array stepsBeyond(const Emitter &e, Array y, Array x) {
  Array slope = e.mul(e.unary<graph::ExpOp>(e.neg(e.mul(y, y))), 2 / std::sqrt(M_PI));
  return e.div(e.sub(e.unary<graph::ErfOp>(y), x), slope);
}

// erfinv: an approximation by elementary functions (Winitzki's), relative error 2e-3, and three
// steps towards the root of erf(y) - x, the first two of third order. Only the last step
// propagates a gradient, the exact slope of erfinv.
Array inverseErf(const Emitter &e, Array given) {
  Array size = e.abs(given), isInside = e.compare(Predicate::LT, size, 1);
  Array x = e.select(isInside, given, e.splat(given, 0));
  constexpr double a = 0.147;
  Array log = e.unary<graph::LogOp>(e.mul(e.sub(1.0, x), e.add(x, 1.0)));
  Array half = e.add(e.mul(log, 0.5), 2 / (M_PI * a));
  Array root = e.unary<graph::SqrtOp>(e.sub(e.mul(half, half), e.div(log, a)));
  Array y = e.unary<graph::SqrtOp>(e.max(e.sub(root, half), 0.0));
  y = e.mul(y, emit::sign(e, x));
  for (int i = 0; i < 2; ++i) {
    Array steps = stepsBeyond(e, y, x);
    y = e.sub(y, e.div(steps, e.add(e.mul(steps, y), 1.0)));
  }
  Emitter build = e;
  y = stopped(build, y);
  y = e.sub(y, stepsBeyond(e, y, x));
  // At ±1 infinite, beyond not a number.
  Array isBound = e.compare(Predicate::EQ, size, 1);
  Array outside = e.select(isBound, e.div(stopped(build, given), 0.0), e.splat(given, NAN));
  return e.select(isInside, y, outside);
}

// sin(pi x) / (pi x), and 1 at 0.
Array normalisedSinc(const Emitter &e, Array x) {
  Array isZero = e.compare(Predicate::EQ, x, 0);
  Array angle = e.mul(e.select(isZero, e.splat(x, 1), x), M_PI);
  return e.select(isZero, e.splat(x, 1), e.div(e.unary<graph::SinOp>(angle), angle));
}

// -x log(x), 0 at 0 and minus infinity below.
Array entropy(const Emitter &e, Array x) {
  Array isPositive = e.compare(Predicate::GT, x, 0);
  Array log = e.unary<graph::LogOp>(e.select(isPositive, x, e.splat(x, 1)));
  Array isNegative = e.compare(Predicate::LT, x, 0);
  return e.select(isNegative, e.splat(x, -INFINITY), e.neg(e.mul(x, log)));
}

// The normal distribution: the probability of less than x.
Array normalProbability(const Emitter &e, Array x) {
  return e.mul(e.add(e.unary<graph::ErfOp>(e.mul(x, std::sqrt(0.5))), 1.0), 0.5);
}

Array powerOfTwo(const Emitter &e, Array x) {
  return e.unary<graph::ExpOp>(e.mul(x, std::log(2.0)));
}
template <typename Op> Array unary(const Emitter &e, Array x) { return e.unary<Op>(x); }
Array sigmoid(const Emitter &e, Array x) { return e.unary<graph::SigmoidOp>(x); }

// Whether a number is negative; -0 is.
Array hasSign(const Emitter &e, Array x) {
  if (!isFloating(x))
    return e.compare(Predicate::LT, x, 0);
  Array isZero = e.compare(Predicate::EQ, x, 0);
  Array inverse = e.div(1.0, e.select(isZero, x, e.splat(x, 1)));
  return either(e, e.compare(Predicate::LT, x, 0), e.compare(Predicate::LT, inverse, 0));
}
Results signBit(OpCall &c) { return hasSign(c.e, c.tensor("self")); }

// -- of two numbers -------------------------------------------------------------------------------
using Binary = Array (*)(const Emitter &, Array, Array);
template <Binary function> Results special(OpCall &c) {
  auto [x, y] = floatPair(c);
  return function(c.e, x, y);
}

// |x| with the sign of y.
Array copiedSign(const Emitter &e, Array x, Array y) {
  Array size = e.abs(x);
  return e.select(hasSign(e, y), e.neg(size), size);
}

// log2(2^x + 2^y) without overflow.
Array addedPowers(const Emitter &e, Array x, Array y) {
  Array isSame = e.compare(Predicate::EQ, x, y); // also two infinities
  Array distance = e.neg(e.abs(e.select(isSame, e.splat(x, 0), e.sub(x, y))));
  Array more = emit::logOnePlus(e, powerOfTwo(e, distance));
  return e.add(e.max(x, y), e.mul(more, 1 / std::log(2.0)));
}

// x times `log` of y, which is finite for `least` < y < infinity; 0 where x is and it is not.
template <Unary log>
Array timesLog(const Emitter &e, Array x, Array y, double least, double harmless) {
  Array isEndless =
      either(e, e.compare(Predicate::LE, y, least), e.compare(Predicate::EQ, y, INFINITY));
  Array isLeftOut = both(e, e.compare(Predicate::EQ, x, 0), isEndless);
  return e.mul(x, log(e, e.select(isLeftOut, e.splat(y, harmless), y)));
}
Array timesLogOf(const Emitter &e, Array x, Array y) {
  return timesLog<unary<graph::LogOp>>(e, x, y, 0, 1);
}
Array timesLogOnePlus(const Emitter &e, Array x, Array y) {
  return timesLog<emit::logOnePlus>(e, x, y, -1, 0);
}

// 0 below zero, `values` at zero, 1 above.
Results heaviside(OpCall &c) {
  Array x = c.tensor("self"), atZero = c.cast(c.tensor("values"), typeOf(x));
  c.e.broadcastTogether(x, atZero);
  Array above = c.cast(c.e.compare(Predicate::GT, x, 0), typeOf(x));
  return c.e.select(c.e.compare(Predicate::EQ, x, 0), atZero, above);
}

// -- closeness ------------------------------------------------------------------------------------
// |x - y| <= atol + rtol |y|, or equal (infinities, too).
Array closeness(OpCall &c) {
  auto [x, y] = floatPair(c);
  Array apart = c.e.abs(c.e.sub(x, y));
  Array allowed = c.e.add(c.e.abs(c.e.mul(y, c.number("rtol"))), c.number("atol"));
  Array isNear = both(c.e, c.e.compare(Predicate::LE, apart, allowed),
                      c.e.compare(Predicate::LT, apart, INFINITY));
  Array isClose = either(c.e, c.e.compare(Predicate::EQ, x, y), isNear);
  if (!c.boolean("equal_nan"))
    return isClose;
  return either(c.e, isClose, both(c.e, emit::isNan(c.e, x), emit::isNan(c.e, y)));
}
Results isClose(OpCall &c) { return closeness(c); }
Results allClose(OpCall &c) {
  Array close = closeness(c);
  Array far = c.cast(c.e.logicalNot(close), ElementType::I64);
  Array count = c.e.reduce(emit::Reduction::Sum, far, emit::dimsFrom(0, rankOf(far)));
  return IValue(TensorState::ofPythonNumber(c.e.compare(Predicate::EQ, count, 0)));
}

constexpr const char *kOneFloat = "T self";
constexpr const char *kTwoFloats = "num self, num other";
constexpr const char *kClose = "T self, T other, f rtol=1e-05, f atol=1e-08, b equal_nan=False";

constexpr OpEntry kSpecialOps[] = {
    {"allclose", kClose, allClose},
    {"copysign", kTwoFloats, special<copiedSign>},
    {"erfinv", kOneFloat, formula<inverseErf>},
    {"heaviside", "T self, T values", heaviside},
    {"isclose", kClose, isClose},
    {"logaddexp2", kTwoFloats, special<addedPowers>},
    {"signbit", kOneFloat, signBit},
    {"sinc", kOneFloat, formula<normalisedSinc>},
    {"special_entr", kOneFloat, formula<entropy>},
    {"special_erf", kOneFloat, formula<unary<graph::ErfOp>>},
    {"special_erfinv", kOneFloat, formula<inverseErf>},
    {"special_exp2", kOneFloat, formula<powerOfTwo>},
    {"special_expit", kOneFloat, formula<sigmoid>},
    {"special_expm1", kOneFloat, formula<emit::expMinusOne>},
    {"special_log1p", kOneFloat, formula<emit::logOnePlus>},
    {"special_ndtr", kOneFloat, formula<normalProbability>},
    {"special_sinc", kOneFloat, formula<normalisedSinc>},
    {"special_xlog1py", kTwoFloats, special<timesLogOnePlus>},
    {"special_xlogy", kTwoFloats, special<timesLogOf>},
    {"xlogy", kTwoFloats, special<timesLogOf>},
};

} // namespace

llvm::ArrayRef<OpEntry> specialOps() { return kSpecialOps; }

} // namespace cleave::aten
