// NarrowTypes: the element types of the format that Cleave holds in a wider one: integers of 2 and 4
// bits in 8 bits, floats of 4 and 8 bits in 16. The numbers are those of the narrow type.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

#include <string_view>

namespace cleave::onnx {

struct NarrowType {
  int32_t dataType; // the format's number
  const char *name;
  int32_t held; // the type that holds it, by the format's number
  int bits;
  // Integers: whether they have a sign. Floats: the exponent's bits and bias, the mantissa's bits.
  bool isSigned;
  int exponentBits, bias, mantissaBits;
  // Floats: the largest number; what is beyond it, without saturation.
  double largest;
  enum class Beyond { Infinity, NaN, Largest } beyond;

  bool isFloat() const { return exponentBits > 0; }
  double lowestInteger() const { return isSigned ? -(1 << (bits - 1)) : 0; }
  double highestInteger() const { return (1 << (bits - isSigned)) - 1; }
};

// The type of this number; null for types that are not narrow.
const NarrowType *narrowType(int32_t dataType);

// The number itself if it is that of a narrow type, else 0.
inline int32_t narrowNumber(int32_t dataType) { return narrowType(dataType) ? dataType : 0; }

// The number that these bits stand for.
double decode(const NarrowType &type, unsigned bits);
// Elements as they are stored (several per byte, the first in the lowest bits), as the type that holds them.
std::string unpack(const NarrowType &type, std::string_view bytes, int64_t count);

// x's numbers as the narrow type has them, in the type that holds it. Floats are rounded half to even, integers
// cut to their bits; `saturate`: what is beyond a float's largest number becomes that, otherwise what the type says.
emit::Value toNarrow(const emit::Emitter &e, emit::Value x, const NarrowType &type, bool saturate);

} // namespace cleave::onnx
