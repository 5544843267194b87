#include "test/unit/graph_text/Elements.h"

#include <cstring>

namespace cleave::test {

namespace {

template <typename T> void put(char *to, double value) {
  T typed = static_cast<T>(value);
  std::memcpy(to, &typed, sizeof(T));
}
template <typename T> double get(const char *from) {
  T typed;
  std::memcpy(&typed, from, sizeof(T));
  return static_cast<double>(typed);
}

} // namespace

void storeElement(ElementType type, char *to, double value) {
  switch (type) {
  case ElementType::F32:
    return put<float>(to, value);
  case ElementType::F64:
    return put<double>(to, value);
  case ElementType::I64:
    return put<int64_t>(to, value);
  case ElementType::I32:
    return put<int32_t>(to, value);
  case ElementType::I16:
    return put<int16_t>(to, value);
  case ElementType::I8:
    return put<int8_t>(to, value);
  case ElementType::U64:
    return put<uint64_t>(to, value);
  case ElementType::U32:
    return put<uint32_t>(to, value);
  case ElementType::U16:
    return put<uint16_t>(to, value);
  case ElementType::F16:
    return put<_Float16>(to, value);
  case ElementType::BF16: {
    auto wide = static_cast<float>(value); // rounded already
    std::memcpy(to, reinterpret_cast<const char *>(&wide) + 2, 2);
    return;
  }
  default:
    return put<uint8_t>(to, value);
  }
}

double loadElement(ElementType type, const char *from) {
  switch (type) {
  case ElementType::F32:
    return get<float>(from);
  case ElementType::F64:
    return get<double>(from);
  case ElementType::I64:
    return get<int64_t>(from);
  case ElementType::I32:
    return get<int32_t>(from);
  case ElementType::I16:
    return get<int16_t>(from);
  case ElementType::I8:
    return get<int8_t>(from);
  case ElementType::U64:
    return get<uint64_t>(from);
  case ElementType::U32:
    return get<uint32_t>(from);
  case ElementType::U16:
    return get<uint16_t>(from);
  case ElementType::F16:
    return get<_Float16>(from);
  case ElementType::BF16: {
    float wide = 0;
    std::memcpy(reinterpret_cast<char *>(&wide) + 2, from, 2);
    return wide;
  }
  default:
    return get<uint8_t>(from);
  }
}

} // namespace cleave::test
