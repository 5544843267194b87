// Conversion of the two 16-bit float formats to and from f32. It uses integer arithmetic only, so
// the results are bitwise equal on every machine.
#pragma once

#include <cstdint>
#include <cstring>

namespace cleave {

// The bits of an f32, and the f32 with these bits.
inline uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline float floatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// The value of a bf16.
inline float fromBF16(uint16_t half) { return floatOf(static_cast<uint32_t>(half) << 16); }

// Rounds to nearest, ties to even; NaN stays NaN.
inline uint16_t toBF16(float value) {
  uint32_t bits = bitsOf(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// The value of an f16.
inline float fromF16(uint16_t half) {
  uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  uint32_t magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00u) // infinity, NaN
    return floatOf(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
  if (magnitude < 0x400u) { // subnormal: magnitude * 2^-24
    float value = static_cast<float>(magnitude) * 0x1p-24f;
    return floatOf(sign | bitsOf(value));
  }
  return floatOf(sign | ((magnitude << 13) + (112u << 23)));
}

// Rounds to nearest, ties to even; values beyond the largest f16 become infinity, NaN stays NaN.
inline uint16_t toF16(float value) {
  uint32_t bits = bitsOf(value);
  uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x47800000u) // 2^16 and above
    return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude <
      0x38800000u) { // below 2^-14: the sum with 0.5 has the rounded subnormal in its low bits
    float shifted = floatOf(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (bitsOf(shifted) - bitsOf(0.5f)));
  }
  uint32_t rounded = magnitude - (112u << 23);
  rounded += 0xfffu + ((rounded >> 13) & 1u);
  return static_cast<uint16_t>(sign | (rounded >> 13));
}

// Formats for templates over element types (ElementFormat.h).
struct BF16Format {
  using Stored = uint16_t;
  using Value = float;
  static Value load(Stored x) { return fromBF16(x); }
  static Stored store(Value x) { return toBF16(x); }
};

struct F16Format {
  using Stored = uint16_t;
  using Value = float;
  static Value load(Stored x) { return fromF16(x); }
  static Stored store(Value x) { return toF16(x); }
};

} // namespace cleave
