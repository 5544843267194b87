// Rounding to element types.
#include "dialects/interfaces/Tensor.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace cleave {

// Rounds to nearest even at `bits` explicit mantissa bits, with the exponents [minimum, maximum] of
// normal numbers. Below them the spacing is that of the smallest normal number, above them the
// result is infinite.
static double roundFloat(double value, int bits, int minimum, int maximum) {
  if (value == 0 || !std::isfinite(value))
    return value;
  int exponent = std::max(std::ilogb(value), minimum);
  double spacing = std::ldexp(1.0, exponent - bits);
  double rounded = std::nearbyint(value / spacing) * spacing;
  if (std::fabs(rounded) >= std::ldexp(1.0, maximum + 1))
    return std::copysign(std::numeric_limits<double>::infinity(), value);
  return rounded;
}

template <typename Int> static double wrap(double value) {
  if (!(std::fabs(value) < 0x1p63))
    return value < 0 ? static_cast<double>(std::numeric_limits<Int>::min())
                     : static_cast<double>(std::numeric_limits<Int>::max());
  return static_cast<double>(static_cast<Int>(static_cast<int64_t>(value)));
}

static double wrapUnsigned(double value) {
  if (value >= 0x1p64)
    return 0x1p64 - 2048; // the largest that a double can hold
  if (value >= 0)
    return std::trunc(value);
  if (!(value > -0x1p63))
    return 0;
  return static_cast<double>(static_cast<uint64_t>(static_cast<int64_t>(value)));
}

double roundTo(ElementType type, double value) {
  switch (type) {
  case ElementType::F64:
    return value;
  case ElementType::F32:
    return static_cast<double>(static_cast<float>(value));
  case ElementType::F16:
    return roundFloat(value, 10, -14, 15);
  case ElementType::BF16:
    return roundFloat(value, 7, -126, 127);
  case ElementType::I64:
    return wrap<int64_t>(value);
  case ElementType::I32:
    return wrap<int32_t>(value);
  case ElementType::I16:
    return wrap<int16_t>(value);
  case ElementType::I8:
    return wrap<int8_t>(value);
  case ElementType::U64:
    return wrapUnsigned(value);
  case ElementType::U32:
    return wrap<uint32_t>(value);
  case ElementType::U16:
    return wrap<uint16_t>(value);
  case ElementType::U8:
    return wrap<uint8_t>(value);
  case ElementType::Bool:
    return value != 0;
  }
  return value;
}

Tensor::Tensor(ElementType type, std::vector<int64_t> shape, double fill)
    : type(type), shape(std::move(shape)) {
  int64_t count = 1;
  for (int64_t size : this->shape)
    count *= size;
  values.assign(count, roundTo(type, fill));
}

std::vector<int64_t> Tensor::strides() const {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

} // namespace cleave
