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

// The work of the kernel, or of the library's, that computes an op with static shapes, in one
// launch. Of an op without CostInterface the bytes only. The `sizes` of a matrix product are not
// known: they follow from its factor rule.
KernelWork workOf(mlir::Operation *op);

} // namespace cleave::graph
