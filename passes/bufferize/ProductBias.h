// ProductBias: a kernel group that does nothing but add a bias to a product.
#pragma once

#include "dialects/graph/Graph.h"

#include <optional>

namespace cleave::bufferize {

// `sum`, the result of the group, is the product with `bias` added to every row. `bias` has the
// column dims of the product.
struct ProductBias {
  mlir::Value sum, bias;
};

// The bias that the only reader of the product adds to it, if both are 16-bit floats of one type
// when they are added and a row of the product has a multiple of 16 bytes; else none. Libraries of
// GPUs add such a bias while they multiply, and layers of models in 16 bits have it.
std::optional<ProductBias> productBias(graph::DotGeneralOp product);

} // namespace cleave::bufferize
