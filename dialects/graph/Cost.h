// Cost: what an op computes and moves, from its CostInterface and its types. How long that takes:
// compiler/cost/Roofline.h.
#pragma once

#include "dialects/graph/Graph.h"
#include "runtime/base/KernelWork.h"

namespace cleave::graph {

// Whether recomputing an element takes longer than reading it from memory: a function such as
// exp.
bool isCostly(mlir::Operation *op);

// Whether the op reads only as many elements of this operand as the result has: the table of a
// gather.
bool isReadSparsely(mlir::Operation *op, unsigned operand);

// The work of an op with static shapes in one launch of a kernel or a library. An op without
// CostInterface has bytes only. The `sizes` of a matrix product are not set: they follow from its
// factor rule.
KernelWork workOf(mlir::Operation *op);

} // namespace cleave::graph
