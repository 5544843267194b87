// Formats of elements for templates of loops over elements: how an element is stored, and in which
// type it is computed. A format has the types Stored and Value, and load() and store() between
// them. Float16.h has the formats of the 16-bit floats.
#pragma once

#include "runtime/base/DType.h"
#include "runtime/base/Float16.h"

#include <cstdint>
#include <type_traits>

namespace cleave {

// Numbers that are computed in the type in which they are stored.
template <typename T> struct PlainFormat {
  using Stored = T;
  using Value = T;
  static Value load(Stored x) { return x; }
  static Stored store(Value x) { return x; }
};

// The same, except that integers are computed as unsigned numbers of at least 32 bits, so that
// their arithmetic wraps around.
template <typename T> struct WrappingFormat {
  using Stored = T;
  using Integer = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  using Value = std::conditional_t<std::is_integral_v<T>, Integer, T>;
  static Value load(Stored x) { return static_cast<Value>(x); }
  static Stored store(Value x) { return static_cast<Stored>(x); }
};

// Calls body(format) with the format of an element type and returns its result: NumberFormat<T> for
// numbers that C++ has, and for bools as bytes; BF16Format and F16Format for the 16-bit floats.
// Always inlined, so that a caller that is compiled for several instruction sets has the body in
// each of them.
template <template <typename> typename NumberFormat, typename Body>
[[gnu::always_inline]] inline auto withFormat(DType dtype, Body body) {
  switch (dtype) {
  case DType::F32:
    return body(NumberFormat<float>());
  case DType::F64:
    return body(NumberFormat<double>());
  case DType::F16:
    return body(F16Format());
  case DType::BF16:
    return body(BF16Format());
  case DType::I8:
    return body(NumberFormat<int8_t>());
  case DType::I16:
    return body(NumberFormat<int16_t>());
  case DType::I32:
    return body(NumberFormat<int32_t>());
  case DType::I64:
    return body(NumberFormat<int64_t>());
  case DType::U16:
    return body(NumberFormat<uint16_t>());
  case DType::U32:
    return body(NumberFormat<uint32_t>());
  case DType::U64:
    return body(NumberFormat<uint64_t>());
  case DType::U8:
  case DType::Bool:
    break;
  }
  return body(NumberFormat<uint8_t>());
}

// The same with the formats of factors and of their product, which has the type of the factors or,
// for 16-bit floats, may be F32 (ProductType.h).
template <template <typename> typename NumberFormat, typename Body>
auto withProductFormats(DType factor, DType product, Body body) {
  if (factor == product)
    return withFormat<NumberFormat>(factor, [&](auto format) { return body(format, format); });
  if (factor == DType::BF16)
    return body(BF16Format(), NumberFormat<float>());
  return body(F16Format(), NumberFormat<float>());
}

} // namespace cleave
