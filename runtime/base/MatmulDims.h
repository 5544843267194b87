// The dims of a matmul's index space as sizes and strides, and merging them. The compiler does so
// when it writes a matmul, the runtime when it executes one, so that a device gets few and large
// products.
#pragma once

#include <cstdint>
#include <vector>

namespace cleave {

// One dim: its size, and its strides (in elements) in the operands; 0 in an operand without the
// dim.
struct MatmulDim {
  int64_t size, lhs, rhs, out;
};

// Whether two dims are one dim of all three operands: each stride of `outer` is the extent of
// `inner`.
inline bool areMergeable(const MatmulDim &outer, const MatmulDim &inner) {
  return outer.lhs == inner.size * inner.lhs && outer.rhs == inner.size * inner.rhs &&
         outer.out == inner.size * inner.out;
}

// Drops dims of size 1 and merges neighbours where possible. Dims are ordered major to minor.
inline std::vector<MatmulDim> mergeDims(const std::vector<MatmulDim> &dims) {
  std::vector<MatmulDim> merged;
  for (MatmulDim dim : dims) {
    if (dim.size == 1)
      continue;
    if (!merged.empty() && areMergeable(merged.back(), dim)) {
      dim.size *= merged.back().size;
      merged.back() = dim;
    } else {
      merged.push_back(dim);
    }
  }
  return merged;
}

} // namespace cleave
