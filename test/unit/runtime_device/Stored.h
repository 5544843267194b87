// Numbers as bytes of any dtype, for tests of instructions on several dtypes.
#pragma once

#include "runtime/base/ElementFormat.h"

#include <cstring>
#include <vector>

namespace cleave::device {

// The numbers as stored in this dtype.
inline std::vector<char> stored(DType dtype, const std::vector<double> &values) {
  std::vector<char> bytes(values.size() * size_t(byteSize(dtype)));
  for (size_t i = 0; i < values.size(); ++i)
    withFormat<PlainFormat>(dtype, [&](auto format) {
      auto element = format.store(static_cast<typename decltype(format)::Value>(values[i]));
      std::memcpy(bytes.data() + i * sizeof element, &element, sizeof element);
    });
  return bytes;
}

// The numbers that bytes of this dtype hold.
inline std::vector<double> loaded(DType dtype, const std::vector<char> &bytes) {
  std::vector<double> values(bytes.size() / size_t(byteSize(dtype)));
  for (size_t i = 0; i < values.size(); ++i)
    withFormat<PlainFormat>(dtype, [&](auto format) {
      typename decltype(format)::Stored element;
      std::memcpy(&element, bytes.data() + i * sizeof element, sizeof element);
      values[i] = static_cast<double>(format.load(element));
    });
  return values;
}

} // namespace cleave::device
