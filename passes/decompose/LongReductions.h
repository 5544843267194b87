// LongReductions: for GPUs, reduces rows in two steps where one leaves most processors idle.
//
// A reduction kernel launches one block of threads per row, so one for the norm of a gradient.
// Reducing the minor dims first launches as many blocks as the major dims have indices; the second
// kernel adds few numbers. Both are ordinary ops, which the planner splits and prices. Reductions
// to columns take two steps in the program (passes/bufferize/ColumnParts.h).
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cleave::decompose {

// Splits each long reduction that has too few blocks in two: over the minor dims, then over the
// fewest major dims that fill a GPU. Leaves reductions over a single dim and those with symbolic
// sizes. Sums of 16-bit floats are rounded once, at the end.
void splitLongReductions(mlir::func::FuncOp function);

// A reduction of the dim that is innermost in memory is split if each result has at least this many
// operands.
inline constexpr int64_t kLongRow = 1 << 16;
// Blocks that fill a GPU: the multiprocessors of the largest one.
inline constexpr int64_t kFull = 148;

// Registers --cleave-decompose-long-reductions.
void registerLongReductionsPass();

} // namespace cleave::decompose
