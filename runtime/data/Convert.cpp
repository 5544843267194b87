// Conversion between element types through int64 or double. Source and target need no alignment.
// See ArrayFile.h.
#include "runtime/base/Float16.h"
#include "runtime/data/ArrayFile.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace cleave::data {
namespace {

constexpr int64_t kBlock = 512; // elements

template <typename T, typename Wide>
void loadAs(const unsigned char *from, Wide *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, from + i * sizeof(T), sizeof(T));
    to[i] = static_cast<Wide>(value);
  }
}

template <typename Wide>
void loadIntegers(DType type, const unsigned char *from, Wide *to, int64_t count) {
  switch (type) {
  case DType::I8:
    return loadAs<int8_t>(from, to, count);
  case DType::I16:
    return loadAs<int16_t>(from, to, count);
  case DType::I32:
    return loadAs<int32_t>(from, to, count);
  case DType::I64:
  case DType::U64: // beyond 2^63 as the negative number with these bits
    return loadAs<int64_t>(from, to, count);
  case DType::U16:
    return loadAs<uint16_t>(from, to, count);
  case DType::U32:
    return loadAs<uint32_t>(from, to, count);
  default:
    return loadAs<uint8_t>(from, to, count);
  }
}

void loadFloats(DType type, const unsigned char *from, double *to, int64_t count) {
  if (type == DType::F32)
    return loadAs<float>(from, to, count);
  if (type == DType::F64)
    return loadAs<double>(from, to, count);
  uint16_t bits[kBlock];
  std::memcpy(bits, from, count * sizeof(uint16_t));
  for (int64_t i = 0; i < count; ++i)
    to[i] = type == DType::BF16 ? fromBF16(bits[i]) : fromF16(bits[i]);
}

void storeFloats(DType type, const double *from, unsigned char *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    float single = static_cast<float>(from[i]);
    uint16_t half = type == DType::BF16 ? toBF16(single) : toF16(single);
    if (type == DType::F64)
      std::memcpy(to + i * 8, &from[i], 8);
    else if (type == DType::F32)
      std::memcpy(to + i * 4, &single, 4);
    else
      std::memcpy(to + i * 2, &half, 2);
  }
}

// Returns the first value that does not fit, if any.
template <typename T>
const int64_t *storeChecked(const int64_t *from, unsigned char *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (!std::in_range<T>(from[i]))
      return &from[i];
    T value = static_cast<T>(from[i]);
    std::memcpy(to + i * sizeof(T), &value, sizeof(T));
  }
  return nullptr;
}

const int64_t *storeIntegers(DType type, const int64_t *from, unsigned char *to, int64_t count) {
  switch (type) {
  case DType::I8:
    return storeChecked<int8_t>(from, to, count);
  case DType::I16:
    return storeChecked<int16_t>(from, to, count);
  case DType::I32:
    return storeChecked<int32_t>(from, to, count);
  case DType::I64:
    return storeChecked<int64_t>(from, to, count);
  case DType::U8:
    return storeChecked<uint8_t>(from, to, count);
  case DType::U16:
    return storeChecked<uint16_t>(from, to, count);
  case DType::U32:
    return storeChecked<uint32_t>(from, to, count);
  case DType::U64:
    return storeChecked<uint64_t>(from, to, count);
  default: // bool
    for (int64_t i = 0; i < count; ++i)
      to[i] = from[i] != 0;
    return nullptr;
  }
}

} // namespace

Status convert(const void *from, DType fromType, void *to, DType toType, int64_t count) {
  const auto *source = static_cast<const unsigned char *>(from);
  auto *target = static_cast<unsigned char *>(to);
  if (fromType == toType) {
    if (count > 0)
      std::memcpy(target, source, count * byteSize(toType));
    return Status::ok();
  }
  if (isFloat(fromType) && !isFloat(toType))
    return Status::userError("found ", name(fromType), " values, expected ", name(toType),
                             "; round them in the file");
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    int64_t n = std::min(kBlock, count - begin);
    const unsigned char *in = source + begin * byteSize(fromType);
    unsigned char *out = target + begin * byteSize(toType);
    if (isFloat(toType)) {
      double values[kBlock];
      isFloat(fromType) ? loadFloats(fromType, in, values, n)
                        : loadIntegers(fromType, in, values, n);
      storeFloats(toType, values, out, n);
      continue;
    }
    int64_t values[kBlock];
    loadIntegers(fromType, in, values, n);
    if (const int64_t *misfit = storeIntegers(toType, values, out, n))
      return Status::userError(name(toType), " cannot hold ", *misfit);
  }
  return Status::ok();
}

} // namespace cleave::data
