// The types of products: matrix products and convolutions, whose factors have one type.
#pragma once

#include "runtime/base/DType.h"

namespace cleave {

// Whether sums of products of factors of a type can be stored as `product`: the same type, or F32,
// in which they are summed, for 16-bit floats.
constexpr bool isProductType(DType product, DType factor) {
  return product == factor || (product == DType::F32 && isFloat(factor) && byteSize(factor) == 2);
}

} // namespace cleave
