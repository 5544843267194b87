// See Elementwise.h.
#include "compiler/frontend/emit/Elementwise.h"

#include <cmath>

namespace cleave::emit {

using namespace graph;

Value broadcastCompare(const Emitter &e, Predicate predicate, Value x, Value y) {
  e.checkSameType(x, y);
  e.broadcastTogether(x, y);
  return e.compare(predicate, x, y);
}

Value where(const Emitter &e, Value condition, Value yes, Value no) {
  e.checkBool(condition, "a condition");
  e.checkSameType(yes, no);
  Values all{condition, yes, no};
  e.broadcastTogether(all);
  return e.select(all[0], all[1], all[2]);
}

// -- powers ---------------------------------------------------------------------------------------

// The power by products and roots where these are exact and cheap, else null.
static Value knownPower(const Emitter &e, Value x, double power) {
  if (power == 1)
    return x;
  if (power == 2)
    return e.mul(x, x);
  if (power == 3)
    return e.mul(e.mul(x, x), x);
  if (!isFloat(x))
    return nullptr;
  if (power == 0.5)
    return e.unary<SqrtOp>(x);
  if (power == -0.5)
    return e.unary<RsqrtOp>(x);
  if (power == -1)
    return e.div(1, x);
  return nullptr;
}

Value power(const Emitter &e, Value x, double y) {
  if (Value known = knownPower(e, x, y))
    return known;
  return power(e, x, e.scalar(isFloat(x) ? elementOf(x) : e.b.getF64Type(), y));
}

Value power(const Emitter &e, Value x, Value y) {
  std::optional<Tensor> known = e.known(y);
  if (known && known->size() == 1 && rankOf(y) <= rankOf(x))
    if (Value result = knownPower(e, x, known->values[0]))
      return result;
  // Integers to whole powers: rounds the floating-point power, which is exact up to 2^53, since
  // kernels yield 48.999… for 7^2.
  mlir::Type element = elementOf(x), computed = isFloat(x) ? element : e.b.getF64Type();
  bool isWholeFloat = known && llvm::all_of(known->values, [](double exponent) {
                        return exponent == std::rint(exponent);
                      });
  bool isWhole = !isFloat(x) && (!isFloat(y) || isWholeFloat);
  x = e.cast(x, computed);
  y = e.cast(y, computed);
  e.broadcastTogether(x, y);
  Value power = e.binary<PowOp>(x, y);
  return e.cast(isWhole ? e.unary<RoundOp>(power) : power, element);
}

// -- division -------------------------------------------------------------------------------------

Value truncate(const Emitter &e, Value x) {
  if (!isFloat(x))
    return x;
  Value down = e.unary<FloorOp>(x), up = e.unary<CeilOp>(x);
  return e.select(e.compare(Predicate::LT, x, 0), up, down);
}

Value truncatedDivide(const Emitter &e, Value x, Value y) {
  return truncate(e, broadcastBinary<DivOp>(e, x, y));
}

// Truncated quotient, less 1 where the signs differ and the remainder is not 0.
Value floorDivide(const Emitter &e, Value x, Value y) {
  e.checkSameType(x, y);
  e.broadcastTogether(x, y);
  if (isFloat(
          x)) { // what the remainder leaves is divided, so that no rounding reaches the next number
    Value whole = e.div(e.sub(x, floorRemainder(e, x, y)), y);
    Value exact = e.unary<RoundOp>(whole);
    return e.select(isFinite(e, whole), exact, e.div(x, y));
  }
  Value rest = e.binary<RemOp>(x, y);
  Value differ = e.binary<XorOp>(e.compare(Predicate::LT, x, 0), e.compare(Predicate::LT, y, 0));
  Value less = e.binary<AndOp>(differ, e.compare(Predicate::NE, rest, 0));
  return e.sub(e.div(x, y), e.cast(less, elementOf(x)));
}

Value truncatedRemainder(const Emitter &e, Value x, Value y) {
  return broadcastBinary<RemOp>(e, x, y);
}

// The remainder with the sign of the divisor.
Value floorRemainder(const Emitter &e, Value x, Value y) {
  e.checkSameType(x, y);
  e.broadcastTogether(x, y);
  Value rest = e.binary<RemOp>(x, y);
  Value isNegative = e.compare(Predicate::LT, rest, 0),
        wantsNegative = e.compare(Predicate::LT, y, 0);
  Value differ = e.binary<XorOp>(isNegative, wantsNegative);
  Value wrong = e.binary<AndOp>(differ, e.compare(Predicate::NE, rest, 0));
  return e.select(wrong, e.add(rest, y), rest);
}

// -- others ---------------------------------------------------------------------------------------

Value isFinite(const Emitter &e, Value x) {
  return e.compare(Predicate::LT, e.abs(x), std::numeric_limits<double>::infinity());
}

Value clip(const Emitter &e, Value x, Value low, Value high) {
  auto bound = [&](Predicate isBeyond, Value limit) {
    if (!limit)
      return;
    e.checkSameType(x, limit);
    limit = e.broadcast(limit, shapeOf(x));
    x = e.select(e.compare(isBeyond, x, limit), limit, x);
  };
  bound(Predicate::LE, low);
  bound(Predicate::GE, high);
  return x;
}

Value sign(const Emitter &e, Value x) {
  Value zero = e.splat(x, 0);
  Value positive = e.cast(e.compare(Predicate::GT, x, zero), elementOf(x));
  Value negative = e.cast(e.compare(Predicate::LT, x, zero), elementOf(x));
  return e.sub(positive, negative);
}

Value reciprocal(const Emitter &e, Value x) {
  e.checkFloat(x);
  return e.div(1, x);
}

Value isNan(const Emitter &e, Value x) {
  e.checkFloat(x);
  return e.compare(Predicate::NE, x, x);
}

Value isInfinite(const Emitter &e, Value x, bool positive, bool negative) {
  e.checkFloat(x);
  Value infinity = e.splat(x, std::numeric_limits<double>::infinity());
  Value isPlus = e.compare(Predicate::EQ, x, infinity),
        isMinus = e.compare(Predicate::EQ, x, e.neg(infinity));
  if (positive && negative)
    return e.binary<OrOp>(isPlus, isMinus);
  return positive ? isPlus : negative ? isMinus : e.splat(isPlus, 0);
}

// (exp(x) - 1) by its series near 0, with the number of terms that the type resolves.
Value expMinusOne(const Emitter &e, Value x) {
  e.checkFloat(x);
  Value series = e.splat(x, 1);
  for (int term = elementOf(x).isF64() ? 12 : 7; term > 1; --term)
    series = e.add(e.mul(e.mul(series, x), 1.0 / term), 1);
  Value isSmall = e.compare(Predicate::LT, e.abs(x), 0.25);
  return e.select(isSmall, e.mul(x, series), e.sub(e.unary<ExpOp>(x), 1));
}

// x log(u) / (u - 1) with u = 1 + x as it is rounded, and x where u is 1.
Value logOnePlus(const Emitter &e, Value x) {
  e.checkFloat(x);
  Value u = e.add(x, 1), rounded = e.sub(u, 1);
  Value isExact = e.compare(Predicate::EQ, rounded, x),
        isZero = e.compare(Predicate::EQ, rounded, 0);
  Value log = e.unary<LogOp>(u);
  Value corrected = e.mul(log, e.div(x, e.select(isZero, e.splat(x, 1), rounded)));
  return e.select(isZero, x, e.select(isExact, log, corrected));
}

Value logarithm(const Emitter &e, Value x, double base) {
  e.checkFloat(x);
  return e.mul(e.unary<LogOp>(x), 1 / std::log(base));
}

Value interpolate(const Emitter &e, Value x, Value y, Value weight) {
  Values all{x, y, weight};
  e.broadcastTogether(all);
  return e.add(all[0], e.mul(all[2], e.sub(all[1], all[0])));
}

} // namespace cleave::emit
