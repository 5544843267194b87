// The multiply-accumulates (MACs) of an op, as profilers of PyTorch models count them.
#pragma once

#include "dialects/graph/Graph.h"

namespace cleave::graph {

// Products and convolutions count their multiply-accumulates; adding a bias to a product, and
// scaling a product or a sum by a number, counts nothing. Norms count 5 per element, movement 0,
// and all other ops 1 per element of their first operand (so pooling and reductions count every
// element that they read once).
Polynomial macsOf(mlir::Operation *op);

} // namespace cleave::graph
