// The contents of .npy files, composed by hand: version 1.0 of NumPy's format, without padding.
#pragma once

#include "runtime/data/ArrayFile.h"

#include <fstream>
#include <string>

namespace cleave::data {

// A file with elements of a type in NumPy's notation, such as `<f4`, and a shape, such as `(2, 3)`.
inline std::string npy(const std::string &descr, const std::string &shape,
                       const std::string &elements, bool fortran = false) {
  std::string dict = "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
                     ", 'shape': " + shape + ", }\n";
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(dict.size());
  out += '\0';
  return out + dict + elements;
}

// Writes an array of floats or integers. Returns whether that succeeded.
inline bool writeNpy(const std::string &path, const ArrayView &array) {
  const std::string size = std::to_string(byteSize(array.dtype));
  const std::string descr = array.dtype == DType::F32  ? "<f4"
                            : array.dtype == DType::U8 ? "|u1"
                                                       : "<i" + size;
  std::string shape = "(";
  for (int64_t dim : array.shape)
    shape += std::to_string(dim) + ",";
  std::ofstream file(path, std::ios::binary);
  file << npy(descr, shape + ")",
              std::string(static_cast<const char *>(array.data), array.bytes()));
  return file.good();
}

} // namespace cleave::data
