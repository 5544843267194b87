// The element types of tensors, with the numbers of runtime/artifact/program.proto, and the table
// of their names, sizes and kinds. The compiler calls the enum ElementType
// (dialects/interfaces/Tensor.h).
#pragma once

#include <cstdint>
#include <iterator>
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

// The values that an element can have.
enum class NumberKind { Float, Signed, Unsigned, Bool };

// The properties of an element type.
struct DTypeFacts {
  DType dtype;
  std::string_view name;     // in plans and in MLIR: `f32`
  std::string_view longName; // in model formats and NumPy: `float32`
  int64_t bytes;             // of one element
  NumberKind kind;
};

// All element types, in the order of their numbers.
inline constexpr DTypeFacts kDTypes[] = {
    {DType::F32, "f32", "float32", 4, NumberKind::Float},
    {DType::F64, "f64", "float64", 8, NumberKind::Float},
    {DType::F16, "f16", "float16", 2, NumberKind::Float},
    {DType::BF16, "bf16", "bfloat16", 2, NumberKind::Float},
    {DType::I8, "i8", "int8", 1, NumberKind::Signed},
    {DType::I16, "i16", "int16", 2, NumberKind::Signed},
    {DType::I32, "i32", "int32", 4, NumberKind::Signed},
    {DType::I64, "i64", "int64", 8, NumberKind::Signed},
    {DType::U8, "u8", "uint8", 1, NumberKind::Unsigned},
    {DType::Bool, "bool", "bool", 1, NumberKind::Bool},
    {DType::U16, "u16", "uint16", 2, NumberKind::Unsigned},
    {DType::U32, "u32", "uint32", 4, NumberKind::Unsigned},
    {DType::U64, "u64", "uint64", 8, NumberKind::Unsigned},
};

// The type whose number in program.proto is `number`, if there is one.
constexpr std::optional<DType> dtypeFromNumber(int number) {
  if (number < 1 || number > static_cast<int>(std::size(kDTypes)))
    return std::nullopt;
  return kDTypes[number - 1].dtype;
}

// The properties of a type; an invalid number has the name "?" and 0 bytes.
constexpr DTypeFacts factsOf(DType dtype) {
  if (std::optional<DType> known = dtypeFromNumber(static_cast<int>(dtype)))
    return kDTypes[static_cast<int>(*known) - 1];
  return {dtype, "?", "?", 0, NumberKind::Bool};
}

// The columns of the table.
constexpr int64_t byteSize(DType dtype) { return factsOf(dtype).bytes; }
constexpr std::string_view name(DType dtype) { return factsOf(dtype).name; }
constexpr std::string_view longName(DType dtype) { return factsOf(dtype).longName; }
constexpr bool isFloat(DType dtype) { return factsOf(dtype).kind == NumberKind::Float; }
constexpr bool isUnsigned(DType dtype) { return factsOf(dtype).kind == NumberKind::Unsigned; }
// Whether it is signed or unsigned; truth values do not count as integers.
constexpr bool isInteger(DType dtype) {
  return isUnsigned(dtype) || factsOf(dtype).kind == NumberKind::Signed;
}

} // namespace cleave
