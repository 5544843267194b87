// The element types of a plan, as a plain enum with the numbers of runtime/artifact/program.proto.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace cleave {

enum class DType : int {
  F32 = 1,
  F64 = 2,
  F16 = 3,
  BF16 = 4,
  I8 = 5,
  I16 = 6,
  I32 = 7,
  I64 = 8,
  U8 = 9,
  Bool = 10, // one byte, 0 or 1
  U16 = 11,
  U32 = 12,
  U64 = 13,
};

// Bytes of one element.
constexpr int64_t byteSize(DType dtype) {
  switch (dtype) {
  case DType::F64:
  case DType::I64:
  case DType::U64:
    return 8;
  case DType::F32:
  case DType::I32:
  case DType::U32:
    return 4;
  case DType::F16:
  case DType::BF16:
  case DType::I16:
  case DType::U16:
    return 2;
  case DType::I8:
  case DType::U8:
  case DType::Bool:
    return 1;
  }
  return 0;
}

constexpr bool isInteger(DType dtype) {
  return dtype == DType::I8 || dtype == DType::I16 || dtype == DType::I32 || dtype == DType::I64 ||
         dtype == DType::U8 || dtype == DType::U16 || dtype == DType::U32 || dtype == DType::U64;
}

// `f32`, `bf16`, `i64`, `bool`, …
constexpr std::string_view name(DType dtype) {
  switch (dtype) {
  case DType::F32:
    return "f32";
  case DType::F64:
    return "f64";
  case DType::F16:
    return "f16";
  case DType::BF16:
    return "bf16";
  case DType::I8:
    return "i8";
  case DType::I16:
    return "i16";
  case DType::I32:
    return "i32";
  case DType::I64:
    return "i64";
  case DType::U8:
    return "u8";
  case DType::Bool:
    return "bool";
  case DType::U16:
    return "u16";
  case DType::U32:
    return "u32";
  case DType::U64:
    return "u64";
  }
  return "?";
}

// The type whose number in program.proto is `number`, if there is one.
constexpr std::optional<DType> dtypeFromNumber(int number) {
  if (number < 1 || number > 13)
    return std::nullopt;
  return static_cast<DType>(number);
}

} // namespace cleave
