// Known tensors that say no more than where an element stands: masks and counts that models keep as buffers.
#pragma once

#include "dialects/graph/Graph.h"

namespace cleave::graph {

// The tensor of static type `type` whose element number i (row-major) is at(i), computed of positions where it can be: all
// elements equal; whole numbers counting along the only dim that is not of size one; or two numbers, one up to a diagonal
// of the last two dims and one beyond it, the same for all other dims. Null for other tensors; then nothing is built.
mlir::Value buildByPositions(mlir::OpBuilder &b, mlir::Location loc, mlir::RankedTensorType type,
                             llvm::function_ref<double(int64_t)> at);

} // namespace cleave::graph
