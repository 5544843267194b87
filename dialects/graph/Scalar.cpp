// Arithmetic on single elements, both on doubles for evaluation and as MLIR ops for kernels.
#include "dialects/graph/Pointwise.h"

#include "runtime/base/CounterRandom.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace cleave::graph {

bool isFloat(Value scalar) { return isa<FloatType>(scalar.getType()); }

bool isUnsigned(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isUnsignedInteger() || element.isInteger(1);
}

Type scalarType(Type element) {
  if (!element.isUnsignedInteger())
    return element;
  return IntegerType::get(element.getContext(), element.getIntOrFloatBitWidth());
}

static Value constant(OpBuilder &b, Location loc, Type type, int64_t value) {
  if (isa<FloatType>(type))
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, static_cast<double>(value)));
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

static unsigned width(Type type) { return type.getIntOrFloatBitWidth(); }

// -- casts ----------------------------------------------------------------------------------------

// Converts through a signed integer that is wide enough, so that values out of range wrap around.
static Value floatToInteger(OpBuilder &b, Location loc, Value scalar, Type to, bool isUnsigned) {
  if (isUnsigned && width(to) == 64)
    return arith::FPToUIOp::create(b, loc, to, scalar);
  bool inWord = width(to) < 32 || (width(to) == 32 && !isUnsigned);
  Type wide = inWord ? b.getI32Type() : b.getI64Type();
  Value integer = arith::FPToSIOp::create(b, loc, wide, scalar);
  return wide == to ? integer : Value(arith::TruncIOp::create(b, loc, to, integer));
}

Value buildCast(OpBuilder &b, Location loc, Value scalar, Type from, Type to) {
  bool fromUnsigned = isUnsigned(from), toUnsigned = isUnsigned(to), toTruth = to.isInteger(1);
  from = scalarType(from);
  to = scalarType(to);
  if (from == to)
    return scalar;
  if (toTruth)
    return buildCompare(b, loc, Predicate::NE, scalar, constant(b, loc, from, 0), false);
  if (isa<FloatType>(from) && isa<FloatType>(to)) {
    if (width(to) > width(from))
      return arith::ExtFOp::create(b, loc, to, scalar);
    // The 16-bit types have conversions from and to f32 only.
    if (width(to) == width(from))
      scalar = arith::ExtFOp::create(b, loc, b.getF32Type(), scalar);
    else if (from.isF64() && width(to) < 32)
      scalar = arith::TruncFOp::create(b, loc, b.getF32Type(), scalar);
    return arith::TruncFOp::create(b, loc, to, scalar);
  }
  if (isa<FloatType>(from))
    return floatToInteger(b, loc, scalar, to, toUnsigned);
  if (isa<FloatType>(to))
    return fromUnsigned ? Value(arith::UIToFPOp::create(b, loc, to, scalar))
                        : Value(arith::SIToFPOp::create(b, loc, to, scalar));
  if (width(to) < width(from))
    return arith::TruncIOp::create(b, loc, to, scalar);
  return fromUnsigned ? Value(arith::ExtUIOp::create(b, loc, to, scalar))
                      : Value(arith::ExtSIOp::create(b, loc, to, scalar));
}

// -- comparisons ----------------------------------------------------------------------------------

Value buildCompare(OpBuilder &b, Location loc, Predicate predicate, Value lhs, Value rhs,
                   bool isUnsigned) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  static constexpr F floats[] = {F::OEQ, F::UNE, F::OLT, F::OLE, F::OGT, F::OGE};
  static constexpr I ints[] = {I::eq, I::ne, I::slt, I::sle, I::sgt, I::sge};
  static constexpr I naturals[] = {I::eq, I::ne, I::ult, I::ule, I::ugt, I::uge};
  int number = static_cast<int>(predicate);
  if (isFloat(lhs))
    return arith::CmpFOp::create(b, loc, floats[number], lhs, rhs);
  return arith::CmpIOp::create(b, loc, isUnsigned ? naturals[number] : ints[number], lhs, rhs);
}

bool compareScalars(Predicate predicate, double lhs, double rhs) {
  switch (predicate) {
  case Predicate::EQ:
    return lhs == rhs;
  case Predicate::NE:
    return lhs != rhs;
  case Predicate::LT:
    return lhs < rhs;
  case Predicate::LE:
    return lhs <= rhs;
  case Predicate::GT:
    return lhs > rhs;
  case Predicate::GE:
    return lhs >= rhs;
  }
  return false;
}

double maximum(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::quiet_NaN() : std::max(a, b);
}
double minimum(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::quiet_NaN() : std::min(a, b);
}

// -- division -------------------------------------------------------------------------------------

double divide(Type type, double lhs, double rhs) {
  if (isa<FloatType>(elementTypeOf(type)))
    return lhs / rhs;
  return rhs == 0 ? 0 : std::trunc(lhs / rhs);
}

double remainder(Type type, double lhs, double rhs) {
  if (isa<FloatType>(elementTypeOf(type)))
    return std::fmod(lhs, rhs);
  return rhs == 0 ? 0 : std::fmod(lhs, rhs);
}

// Machines trap at division by 0 and at the least number divided by -1. Both results are selected
// without dividing.
static Value divideIntegers(OpBuilder &b, Location loc, Value lhs, Value rhs, bool isUnsigned,
                            bool remainder) {
  Type type = lhs.getType();
  Value zero = constant(b, loc, type, 0), one = constant(b, loc, type, 1);
  Value isZero = buildCompare(b, loc, Predicate::EQ, rhs, zero, isUnsigned);
  Value unsafe = isZero, isMinusOne;
  if (!isUnsigned) {
    isMinusOne = buildCompare(b, loc, Predicate::EQ, rhs, constant(b, loc, type, -1), false);
    unsafe = arith::OrIOp::create(b, loc, isZero, isMinusOne);
  }
  Value safe = arith::SelectOp::create(b, loc, unsafe, one, rhs), value;
  if (remainder)
    value = isUnsigned ? Value(arith::RemUIOp::create(b, loc, lhs, safe))
                       : Value(arith::RemSIOp::create(b, loc, lhs, safe)); // by 1: 0
  else
    value = isUnsigned ? Value(arith::DivUIOp::create(b, loc, lhs, safe))
                       : Value(arith::DivSIOp::create(b, loc, lhs, safe));
  if (isMinusOne && !remainder)
    value = arith::SelectOp::create(b, loc, isMinusOne, arith::SubIOp::create(b, loc, zero, lhs),
                                    value);
  return remainder ? value : Value(arith::SelectOp::create(b, loc, isZero, zero, value));
}

Value buildDivision(OpBuilder &b, Location loc, Value lhs, Value rhs, bool isUnsigned,
                    bool remainder) {
  if (!isFloat(lhs))
    return divideIntegers(b, loc, lhs, rhs, isUnsigned, remainder);
  return remainder ? Value(arith::RemFOp::create(b, loc, lhs, rhs))
                   : Value(arith::DivFOp::create(b, loc, lhs, rhs));
}

// -- bits -----------------------------------------------------------------------------------------

uint64_t toBits(double value) {
  if (!(value >= -0x1p63 && value < 0x1p64)) // and NaN
    return value > 0 ? std::numeric_limits<uint64_t>::max() : uint64_t(1) << 63;
  return value < 0 ? static_cast<uint64_t>(static_cast<int64_t>(value))
                   : static_cast<uint64_t>(value);
}

uint64_t integerBits(Type element, double value) {
  if (!element.isUnsignedInteger() && value >= 0x1p63) // rounded up from the largest
    return static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  return toBits(value);
}

double fromBits(uint64_t bits, Type type) {
  Type element = elementTypeOf(type);
  unsigned unused = 64 - width(element);
  if (isUnsigned(element))
    return static_cast<double>(bits << unused >> unused);
  return static_cast<double>(static_cast<int64_t>(bits << unused) >> unused);
}

double shiftLeft(Type type, double value, double places) {
  bool all = places < 0 || places >= width(elementTypeOf(type));
  return all ? 0 : fromBits(toBits(value) << static_cast<int>(places), type);
}

double shiftRight(double value, double places) {
  return places < 0 ? 0 : std::floor(std::ldexp(value, -static_cast<int>(std::min(places, 64.0))));
}

Value buildShift(OpBuilder &b, Location loc, Value value, Value places, bool isUnsigned,
                 bool left) {
  Type type = value.getType();
  Value last = constant(b, loc, type, width(type) - 1), zero = constant(b, loc, type, 0);
  Value negative = buildCompare(b, loc, Predicate::LT, places, zero, isUnsigned);
  Value far = buildCompare(b, loc, Predicate::GT, places, last, isUnsigned);
  Value outside = arith::OrIOp::create(b, loc, negative, far);
  Value near = arith::SelectOp::create(b, loc, outside, last, places), moved;
  if (left)
    moved = arith::ShLIOp::create(b, loc, value, near);
  else if (isUnsigned)
    moved = arith::ShRUIOp::create(b, loc, value, near);
  else // the sign of a negative number is kept for any number of places
    return arith::SelectOp::create(b, loc, negative, zero,
                                   arith::ShRSIOp::create(b, loc, value, near));
  return arith::SelectOp::create(b, loc, outside, zero, moved);
}

// -- random numbers -------------------------------------------------------------------------------

double randomNumber(double counter, double key) {
  return cleave::randomNumber(toBits(counter), hashedKey(toBits(key)));
}

static Value buildMix(OpBuilder &b, Location loc, Value z) {
  auto number = [&](uint64_t value) {
    return constant(b, loc, z.getType(), static_cast<int64_t>(value));
  };
  auto fold = [&](int places) {
    z = arith::XOrIOp::create(b, loc, z, arith::ShRUIOp::create(b, loc, z, number(places)));
  };
  fold(30);
  z = arith::MulIOp::create(b, loc, z, number(kFirstMixer));
  fold(27);
  z = arith::MulIOp::create(b, loc, z, number(kSecondMixer));
  fold(31);
  return z;
}

Value buildRandomNumber(OpBuilder &b, Location loc, Value counter, Value key) {
  Type type = b.getI64Type();
  Value step = constant(b, loc, type, static_cast<int64_t>(kCounterStep));
  Value hashed = buildMix(b, loc, arith::AddIOp::create(b, loc, key, step));
  Value bits = buildMix(b, loc, arith::AddIOp::create(b, loc, counter, hashed));
  Value top = arith::ShRUIOp::create(b, loc, bits, constant(b, loc, type, 40));
  Value small = arith::TruncIOp::create(b, loc, b.getI32Type(), top); // 24 bits: never negative
  Value number = arith::SIToFPOp::create(b, loc, b.getF32Type(), small);
  Value unit = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0x1p-24f));
  return arith::MulFOp::create(b, loc, number, unit);
}

} // namespace cleave::graph
