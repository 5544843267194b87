// Recognition of known tensors whose elements are functions of their position: the masks and
// counters that models keep as buffers.
#pragma once

#include "dialects/graph/Graph.h"

namespace cleave::graph {

// Builds the tensor of static type `type` whose element i (row-major) is at(i), computed from
// positions, if it is one of
//  * a tensor with all elements equal;
//  * consecutive integers along the only dim that is not of size one;
//  * two numbers, one up to a diagonal of the last two dims and the other beyond it, the same for
//    all other dims.
// Returns null and builds nothing for other tensors.
mlir::Value buildByPositions(mlir::OpBuilder &b, mlir::Location loc, mlir::RankedTensorType type,
                             llvm::function_ref<double(int64_t)> at);

} // namespace cleave::graph
