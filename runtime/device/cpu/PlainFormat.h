// Element types for plain loops: how an element is stored and in what it is computed. Private to this folder.
#pragma once

#include "runtime/base/DType.h"
#include "runtime/base/Float16.h"

#include <type_traits>

namespace cleave::device {

// Integers are computed without a sign and in 32 bits at least, so that they wrap around.
template <typename T> struct PlainFormat {
  using Stored = T;
  using Integer = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  using Value = std::conditional_t<std::is_integral_v<T>, Integer, T>;
  static Value load(Stored x) { return static_cast<Value>(x); }
  static Stored store(Value x) { return static_cast<Stored>(x); }
};

// Calls body(format) with the format of an element type and returns what it returns; a truth value counts as a byte.
template <typename Body> auto withFormat(DType dtype, Body body) {
  switch (dtype) {
  case DType::F32:
    return body(PlainFormat<float>());
  case DType::F64:
    return body(PlainFormat<double>());
  case DType::F16:
    return body(F16Format());
  case DType::BF16:
    return body(BF16Format());
  case DType::I8:
    return body(PlainFormat<int8_t>());
  case DType::I16:
    return body(PlainFormat<int16_t>());
  case DType::I32:
    return body(PlainFormat<int32_t>());
  case DType::I64:
    return body(PlainFormat<int64_t>());
  case DType::U16:
    return body(PlainFormat<uint16_t>());
  case DType::U32:
    return body(PlainFormat<uint32_t>());
  case DType::U64:
    return body(PlainFormat<uint64_t>());
  case DType::U8:
  case DType::Bool:
    break;
  }
  return body(PlainFormat<uint8_t>());
}

} // namespace cleave::device
