// Multiply-accumulates of an op, as profilers of PyTorch models count them.
#pragma once

#include "dialects/graph/Graph.h"

namespace cleave::graph {

// Products and convolutions count their multiply-accumulates (a bias that is added to one, and a
// number that it or a sum is multiplied by, is part of it), norms 5 per element, other arithmetic 1
// per element of its first operand (pooling and reductions thereby 1 per element that they read),
// movement nothing.
Polynomial macsOf(mlir::Operation *op);

} // namespace cleave::graph
