// Tensor: a whole tensor as plain data, for reference evaluation and constants. Slow and simple on
// purpose: every element is a double, rounded to the element type when it is stored. Integers are
// exact up to 2^53. Plain C++: no MLIR.
#pragma once

#include "runtime/base/DType.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cleave {

// The compiler's name for DType; DType.h has the table of names, sizes and kinds.
using ElementType = DType;

// The value of the type that is nearest to `value` (integers: truncated towards zero and wrapped).
double roundTo(ElementType type, double value);

struct Tensor {
  ElementType type = ElementType::F32; // of every element
  std::vector<int64_t> shape;          // elements along each dim; empty for a scalar
  std::vector<double> values;          // row-major

  Tensor() = default;
  // A tensor with all elements equal to `fill`, rounded to the type.
  Tensor(ElementType type, std::vector<int64_t> shape, double fill = 0);

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }  // number of dims
  int64_t size() const { return static_cast<int64_t>(values.size()); } // number of elements
  // Elements between neighbours along each dim.
  std::vector<int64_t> strides() const;
  // Stores `value`, rounded to the type, as element `index` in row-major order.
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
