// See Finite.h.
#include "runtime/checkpoint/Finite.h"

#include <cstring>

namespace cleave::checkpoint {

// A float is not finite if all bits of its exponent are set.
template <typename Bits> static bool areFinite(const void *data, int64_t count, Bits exponent) {
  const char *at = static_cast<const char *>(data);
  int64_t found = 0;
  for (int64_t i = 0; i < count; ++i) {
    Bits bits;
    std::memcpy(&bits, at + i * int64_t(sizeof(Bits)), sizeof(Bits));
    found += (bits & exponent) == exponent ? 1 : 0; // without a branch, for SIMD
  }
  return found == 0;
}

bool areFinite(const data::ArrayView &array) {
  switch (array.dtype) {
  case DType::F64:
    return areFinite<uint64_t>(array.data, array.elements(), 0x7ff0'0000'0000'0000);
  case DType::F32:
    return areFinite<uint32_t>(array.data, array.elements(), 0x7f80'0000);
  case DType::F16:
    return areFinite<uint16_t>(array.data, array.elements(), 0x7c00);
  case DType::BF16:
    return areFinite<uint16_t>(array.data, array.elements(), 0x7f80);
  default:
    return true;
  }
}

} // namespace cleave::checkpoint
