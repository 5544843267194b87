// Tensor: a whole tensor as plain data, for reference evaluation and constants. Slow and simple on
// purpose: every element is a double, rounded to its element type when it is stored. Integers are exact
// up to 2^53. Plain C++: no MLIR.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cleave {

enum class ElementType { F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8, Bool };

// Bytes of one element.
int64_t byteSize(ElementType type);
bool isFloat(ElementType type);

// The value nearest to `value` that the type can hold (integers: truncated towards zero and wrapped).
double roundTo(ElementType type, double value);

struct Tensor {
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape;
  std::vector<double> values; // row-major

  Tensor() = default;
  Tensor(ElementType type, std::vector<int64_t> shape, double fill = 0);

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  int64_t size() const { return static_cast<int64_t>(values.size()); }
  // Elements between neighbours along each dim.
  std::vector<int64_t> strides() const;
  void set(int64_t index, double value) { values[index] = roundTo(type, value); }
};

// Calls visit(index) for every multi-index of `shape` in row-major order (once for a scalar).
template <typename Visit> void forEachIndex(const std::vector<int64_t> &shape, Visit visit) {
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t size : shape)
    if (size == 0)
      return;
  while (true) {
    visit(static_cast<const std::vector<int64_t> &>(index));
    int64_t dim = static_cast<int64_t>(shape.size()) - 1;
    while (dim >= 0 && ++index[dim] == shape[dim])
      index[dim--] = 0;
    if (dim < 0)
      return;
  }
}

// The row-major position of a multi-index.
inline int64_t linearIndex(const std::vector<int64_t> &index, const std::vector<int64_t> &strides) {
  int64_t position = 0;
  for (std::size_t i = 0; i < index.size(); ++i)
    position += index[i] * strides[i];
  return position;
}

} // namespace cleave
