// Cost: properties of an op that decide how long it takes, in addition to the FLOPs of
// CostInterface.
#pragma once

#include "dialects/graph/Graph.h"

namespace cleave::graph {

// Whether computing an element again takes longer than reading it from memory: a function such as
// exp.
bool isCostly(mlir::Operation *op);

// Whether the op reads only as many elements of this operand as the result has: the table of a
// gather.
bool isReadSparsely(mlir::Operation *op, unsigned operand);

// The elements of the columns of a convolution with static shapes that a CPU's library lowers
// (runtime/base/ConvolutionLowering.h); 0 for other ops.
double loweredColumns(mlir::Operation *op);

// The bytes that an op with static shapes reads and writes.
int64_t touchedBytes(mlir::Operation *op);

} // namespace cleave::graph
