// Elementwise: arithmetic of two tensors with numpy's broadcasting, and what needs more than one op.
// Operands have one element type; frontends promote before.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// Any op of two operands, broadcast together; fails where the types differ.
template <typename Op> Value broadcastBinary(const Emitter &e, Value x, Value y) {
  e.checkSameType(x, y);
  e.broadcastTogether(x, y);
  return e.binary<Op>(x, y);
}
Value broadcastCompare(const Emitter &e, Predicate predicate, Value x, Value y);

// yes where the condition holds, else no; all broadcast together.
Value where(const Emitter &e, Value condition, Value yes, Value no);

// x to the power y (of any type); by products and roots where y is known and that is exact.
Value power(const Emitter &e, Value x, Value y);
Value power(const Emitter &e, Value x, double y);

// Quotients and remainders: truncated towards zero (as C and fmod), or floored (as Python).
Value truncatedDivide(const Emitter &e, Value x, Value y);
Value floorDivide(const Emitter &e, Value x, Value y);
Value truncatedRemainder(const Emitter &e, Value x, Value y);
Value floorRemainder(const Emitter &e, Value x, Value y);

// Not below `low`, not above `high`; either may be null, both broadcast to x.
Value clip(const Emitter &e, Value x, Value low, Value high);
Value clip(const Emitter &e, Value x, std::optional<double> low, std::optional<double> high);

// -1, 0 or 1.
Value sign(const Emitter &e, Value x);
Value reciprocal(const Emitter &e, Value x);
Value isNan(const Emitter &e, Value x);
Value isFinite(const Emitter &e, Value x);
Value isInfinite(const Emitter &e, Value x, bool positive = true, bool negative = true);
// exp(x) - 1 and log(1 + x), exact near 0.
Value expMinusOne(const Emitter &e, Value x);
Value logOnePlus(const Emitter &e, Value x);
// The logarithm to another base.
Value logarithm(const Emitter &e, Value x, double base);
// Towards zero.
Value truncate(const Emitter &e, Value x);
// (1 - weight) x + weight y; `weight` of any shape that broadcasts.
Value interpolate(const Emitter &e, Value x, Value y, Value weight);

} // namespace cleave::emit
