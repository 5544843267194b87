// ProductBias: a kernel group that does nothing but add a bias to a product.
#pragma once

#include "dialects/graph/Graph.h"

#include <optional>

namespace cleave::bufferize {

// `sum`, the result of the group, is the product with `bias`, a tensor of the sizes of its columns,
// added to every row.
struct ProductBias {
  mlir::Value sum, bias;
};

// The bias that the only reader of the product adds to it. Both are 16-bit floats of one type when
// they are added, and a row of the product has a multiple of 16 bytes: all of that holds for the
// layers of models in such a type, and libraries of GPUs add such a bias while they multiply.
std::optional<ProductBias> productBias(graph::DotGeneralOp product);

} // namespace cleave::bufferize
