// NarrowTypes: element types of the format that Cleave holds in a wider type: integers of 2 and 4
// bits in 8 bits, floats of 4 and 8 bits in 16 bits. The values are those of the narrow type.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

#include <string_view>

namespace cleave::onnx {

// The format of a narrow type.
struct NarrowType {
  int32_t dataType; // the format's number
  const char *name; // for messages: `int4`, `float8e4m3fn`
  int32_t held;     // the data type of the format that holds it
  int bits;
  // Integers: whether they are signed. Floats: bits of the exponent, its bias, bits of the
  // mantissa.
  bool isSigned;
  int exponentBits, bias, mantissaBits;
  // Floats: the largest finite value, and the result for larger values without saturation.
  double largest;
  enum class Beyond { Infinity, NaN, Largest } beyond;

  // A float; else an integer.
  bool isFloat() const { return exponentBits > 0; }
  // The range of an integer type.
  double lowestInteger() const { return isSigned ? -(1 << (bits - 1)) : 0; }
  double highestInteger() const { return (1 << (bits - isSigned)) - 1; }
};

// The narrow type with this data type; null for types that are not narrow.
const NarrowType *narrowType(int32_t dataType);

// The data type itself if it is narrow, else 0.
inline int32_t narrowNumber(int32_t dataType) { return narrowType(dataType) ? dataType : 0; }

// The value with these bits.
double decode(const NarrowType &type, unsigned bits);
// Decodes stored elements (several per byte, the first in the lowest bits) into the type that holds
// them.
std::string unpack(const NarrowType &type, std::string_view bytes, int64_t count);

// The values of x rounded to the narrow type, in the type that holds it: floats half to even,
// integers cut to their lowest bits. Floats beyond the largest value become that if `saturate`,
// else as NarrowType::beyond.
emit::Value toNarrow(const emit::Emitter &e, emit::Value x, const NarrowType &type, bool saturate);

} // namespace cleave::onnx
