// Cost: what an op takes besides its FLOPs, which CostInterface states.
#pragma once

#include "dialects/graph/Graph.h"

namespace cleave::graph {

// Whether an element takes longer than the memory access that keeping it would take: a function such as exp.
bool isCostly(mlir::Operation *op);

// Whether of this operand only as many elements are read as the result has, wherever they lie: of a gather's table.
bool isReadSparsely(mlir::Operation *op, unsigned operand);

// Bytes that an op of static shapes reads and writes.
int64_t touchedBytes(mlir::Operation *op);

} // namespace cleave::graph
