// Element types and their rounding.
#include "dialects/interfaces/Tensor.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace cleave {

int64_t byteSize(ElementType type) {
  switch (type) {
  case ElementType::F64:
  case ElementType::I64:
  case ElementType::U64:
    return 8;
  case ElementType::F32:
  case ElementType::I32:
  case ElementType::U32:
    return 4;
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::I16:
  case ElementType::U16:
    return 2;
  case ElementType::I8:
  case ElementType::U8:
  case ElementType::Bool:
    return 1;
  }
  return 0;
}

bool isFloat(ElementType type) {
  return type == ElementType::F64 || type == ElementType::F32 || type == ElementType::F16 ||
         type == ElementType::BF16;
}

// Round to nearest even at `bits` explicit mantissa bits, with the exponent range [minimum, maximum] of normal
// numbers; below it the spacing stays that of the smallest normal number, above it is infinity.
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
