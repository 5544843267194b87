// Elementwise: arithmetic with numpy's broadcasting, and functions that need more than one op.
// Operands have one element type; frontends promote types before.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// An op of two operands, which are broadcast together; fails where the element types differ.
template <typename Op> Value broadcastBinary(const Emitter &e, Value x, Value y) {
  e.checkSameType(x, y);
  e.broadcastTogether(x, y);
  return e.binary<Op>(x, y);
}
Value broadcastCompare(const Emitter &e, Predicate predicate, Value x, Value y);

// `yes` where the condition holds, else `no`; all three are broadcast together.
Value where(const Emitter &e, Value condition, Value yes, Value no);

// x to the power y, which may have another type. Known exponents become products and roots where
// these are exact.
Value power(const Emitter &e, Value x, Value y);
Value power(const Emitter &e, Value x, double y);

// Quotients and remainders: truncated towards zero (as C and fmod), or floored (as Python).
Value truncatedDivide(const Emitter &e, Value x, Value y);
Value floorDivide(const Emitter &e, Value x, Value y);
Value truncatedRemainder(const Emitter &e, Value x, Value y);
Value floorRemainder(const Emitter &e, Value x, Value y);

// min(max(x, low), high). Either bound may be null (none); both broadcast to x. At a bound the
// slope in x is 0.
Value clip(const Emitter &e, Value x, Value low, Value high);

// -1, 0 or 1.
Value sign(const Emitter &e, Value x);
// 1 / x.
Value reciprocal(const Emitter &e, Value x);
// Bool results.
Value isNan(const Emitter &e, Value x);
Value isFinite(const Emitter &e, Value x);
Value isInfinite(const Emitter &e, Value x, bool positive = true, bool negative = true);
// exp(x) - 1 and log(1 + x), exact near 0.
Value expMinusOne(const Emitter &e, Value x);
Value logOnePlus(const Emitter &e, Value x);
// The logarithm of x to the given base.
Value logarithm(const Emitter &e, Value x, double base);
// Rounds towards zero.
Value truncate(const Emitter &e, Value x);
// (1 - weight) x + weight y; `weight` broadcasts.
Value interpolate(const Emitter &e, Value x, Value y, Value weight);

} // namespace cleave::emit
