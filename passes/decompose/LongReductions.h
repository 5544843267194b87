// LongReductions: for GPUs, reduces in two steps where one leaves most processors idle.
//
// A kernel of a reduction takes a block of threads per row, or per kColumns columns, of its result.
// The norm of a gradient would be one block, and the gradient of a bias of 768 columns 12. Reduced
// over its minor dims first, it has as many for each index of the major ones, and the second kernel
// adds few numbers. Both are ordinary ops, which the planner splits and prices.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cleave::decompose {

// Replaces each reduction of many operands to few blocks by two: over the minor dims, then over the
// major ones, as few of them as fill a GPU. One over a single dim stays, as does one with symbolic
// sizes. Sums of 16-bit floats are rounded once, at the end.
void splitLongReductions(mlir::func::FuncOp function);

// The elements of the operand per one of the result, where the last dim is reduced (rows) and where
// it is kept (columns), from which on a reduction is split.
inline constexpr int64_t kLongRow = 1 << 16, kLongColumn = 1 << 12;
// Columns of a block, at least: two of 16-bit floats per lane of a warp.
inline constexpr int64_t kColumns = 64;
// Blocks that fill a GPU: as many as the largest has processors.
inline constexpr int64_t kFull = 148;

// Registers --cleave-decompose-long-reductions.
void registerLongReductionsPass();

} // namespace cleave::decompose
