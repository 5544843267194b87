// See NarrowTypes.h.
#include "compiler/frontend/onnx/file/NarrowTypes.h"

#include "compiler/frontend/emit/Elementwise.h"
#include "compiler/frontend/onnx/file/Model.h"
#include "runtime/base/Float16.h"

#include <cmath>
#include <cstring>

namespace cleave::onnx {
namespace {

using namespace emit;
using Beyond = NarrowType::Beyond;

constexpr int32_t kFloat32 = 1, kUint8 = 2, kInt8 = 3, kFloat16 = 10;

constexpr NarrowType kTypes[] = {
    {17, "float8e4m3fn", kFloat16, 8, true, 4, 7, 3, 448, Beyond::NaN},
    {18, "float8e4m3fnuz", kFloat16, 8, true, 4, 8, 3, 240, Beyond::NaN},
    {19, "float8e5m2", kFloat16, 8, true, 5, 15, 2, 57344, Beyond::Infinity},
    {20, "float8e5m2fnuz", kFloat16, 8, true, 5, 16, 2, 57344, Beyond::NaN},
    {21, "uint4", kUint8, 4, false, 0, 0, 0, 0, Beyond::Largest},
    {22, "int4", kInt8, 4, true, 0, 0, 0, 0, Beyond::Largest},
    {23, "float4e2m1", kFloat16, 4, true, 2, 1, 1, 6, Beyond::Largest},
    {25, "uint2", kUint8, 2, false, 0, 0, 0, 0, Beyond::Largest},
    {26, "int2", kInt8, 2, true, 0, 0, 0, 0, Beyond::Largest},
};

// Whether the type has only one zero and uses the other one's bits for NaN.
bool hasOneZero(const NarrowType &type) { return type.dataType == 18 || type.dataType == 20; }

// Whether these bits of a magnitude are not a finite number of the type.
double special(const NarrowType &type, unsigned magnitude) {
  unsigned mantissa = magnitude & ((1U << type.mantissaBits) - 1);
  bool isInfinite = type.beyond == Beyond::Infinity && mantissa == 0;
  return isInfinite ? std::numeric_limits<double>::infinity()
                    : std::numeric_limits<double>::quiet_NaN();
}

double decodeFloat(const NarrowType &type, unsigned bits) {
  unsigned sign = 1U << (type.bits - 1), magnitude = bits & (sign - 1);
  if (hasOneZero(type) && bits == sign)
    return std::numeric_limits<double>::quiet_NaN();
  auto exponent = static_cast<int>(magnitude >> type.mantissaBits);
  auto mantissa = static_cast<double>(magnitude & ((1U << type.mantissaBits) - 1));
  double value = exponent ? std::ldexp(mantissa + (1 << type.mantissaBits),
                                       exponent - type.bias - type.mantissaBits)
                          : std::ldexp(mantissa, 1 - type.bias - type.mantissaBits);
  if (value > type.largest)
    value = special(type, magnitude);
  return bits & sign ? -value : value;
}

// Rounds half to even at `mantissaBits` bits; below the least normal number, at the spacing of that
// number.
Value roundFloat(const Emitter &e, Value magnitude, const NarrowType &type) {
  // The spacing of numbers doubles at every power of two.
  Value ulp = e.splat(magnitude, std::ldexp(1.0, 1 - type.bias - type.mantissaBits));
  int most = std::ilogb(type.largest);
  for (int exponent = 2 - type.bias; exponent <= most; ++exponent) {
    Value isAbove = e.compare(Predicate::GE, magnitude, std::ldexp(1.0, exponent));
    ulp = e.select(isAbove, e.splat(ulp, std::ldexp(1.0, exponent - type.mantissaBits)), ulp);
  }
  return e.mul(e.unary<graph::RoundOp>(e.div(magnitude, ulp)), ulp);
}

Value toNarrowFloat(const Emitter &e, Value x, const NarrowType &type, bool saturate,
                    mlir::Type held) {
  x = e.cast(x, e.b.getF32Type());
  Value rounded = roundFloat(e, e.abs(x), type);
  saturate |= type.beyond == Beyond::Largest;
  double beyond = saturate                          ? type.largest
                  : type.beyond == Beyond::Infinity ? std::numeric_limits<double>::infinity()
                                                    : std::numeric_limits<double>::quiet_NaN();
  Value isBeyond = e.compare(Predicate::GT, rounded, type.largest);
  rounded = e.select(isBeyond, e.splat(rounded, beyond), rounded);
  Value signedValue = e.select(e.compare(Predicate::LT, x, 0), e.neg(rounded), rounded);
  return e.cast(e.select(isNan(e, x), x, signedValue), held);
}

// Keeps the lowest bits; floats are truncated towards zero first.
Value toNarrowInteger(const Emitter &e, Value x, const NarrowType &type, mlir::Type held) {
  Value whole = e.cast(x, e.b.getI32Type());
  Value rest = floorRemainder(e, whole, e.splat(whole, 1 << type.bits));
  if (type.isSigned)
    rest = e.select(e.compare(Predicate::GT, rest, type.highestInteger()),
                    e.sub(rest, 1 << type.bits), rest);
  return e.cast(rest, held);
}

} // namespace

const NarrowType *narrowType(int32_t dataType) {
  for (const NarrowType &type : kTypes)
    if (type.dataType == dataType)
      return &type;
  return nullptr;
}

double decode(const NarrowType &type, unsigned bits) {
  if (type.isFloat())
    return decodeFloat(type, bits);
  bool isNegative = type.isSigned && bits >> (type.bits - 1);
  return static_cast<double>(bits) - (isNegative ? 1 << type.bits : 0);
}

std::string unpack(const NarrowType &type, std::string_view bytes, int64_t count) {
  int64_t perByte = 8 / type.bits;
  if (static_cast<int64_t>(bytes.size()) * perByte < count)
    fail("has ", bytes.size(), " bytes for ", count, " elements of ", type.name);
  std::string out;
  for (int64_t i = 0; i < count; ++i) {
    unsigned byte = static_cast<unsigned char>(bytes[i / perByte]);
    double value = decode(type, (byte >> (i % perByte * type.bits)) & ((1U << type.bits) - 1));
    if (type.isFloat()) {
      uint16_t half = toF16(static_cast<float>(value));
      out.append(reinterpret_cast<const char *>(&half), sizeof half);
    } else {
      out.push_back(static_cast<char>(static_cast<int>(value)));
    }
  }
  return out;
}

Value toNarrow(const Emitter &e, Value x, const NarrowType &type, bool saturate) {
  mlir::Type held = graph::fromElementType(*elementTypeOf(type.held), e.b.getContext());
  return type.isFloat() ? toNarrowFloat(e, x, type, saturate, held)
                        : toNarrowInteger(e, x, type, held);
}

} // namespace cleave::onnx
