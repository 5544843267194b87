// LongReductions: for GPUs, reduces in two steps where one leaves most processors idle.
//
// A reduction kernel launches one block of threads per row, or per kColumns columns, of its result:
// one block for the norm of a gradient, 12 for a bias gradient of 768 columns. Reducing the minor
// dims first launches that many blocks for each index of the major dims; the second kernel adds few
// numbers. Both are ordinary ops, which the planner splits and prices.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cleave::decompose {

// Splits each long reduction that has too few blocks in two: over the minor dims, then over the
// fewest major dims that fill a GPU. Leaves reductions over a single dim and those with symbolic
// sizes. Sums of 16-bit floats are rounded once, at the end.
void splitLongReductions(mlir::func::FuncOp function);

// A reduction is split if each result has at least this many operands: kLongRow if the dim that is
// innermost in memory is reduced, kLongColumn if it is kept.
inline constexpr int64_t kLongRow = 1 << 16, kLongColumn = 1 << 12;
// The fewest columns of a block: two 16-bit floats per lane of a warp.
inline constexpr int64_t kColumns = 64;
// Blocks that fill a GPU: the multiprocessors of the largest one.
inline constexpr int64_t kFull = 148;

// Registers --cleave-decompose-long-reductions.
void registerLongReductionsPass();

} // namespace cleave::decompose
