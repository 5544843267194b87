// LongReductions: for GPUs, reduces in two steps where one leaves most processors idle.
//
// A kernel of a reduction takes a block of threads per row, or per few columns, of its result. The
// norm of a gradient, or a mean over all tokens, would be one block. Reduced over its minor dims
// first, it has a block per index of the major ones, and the second kernel adds few numbers. Both
// are ordinary ops, which the planner splits and prices.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cleave::decompose {

// Replaces each reduction with a small result and a large operand by two: over the minor dims, then
// over the major ones, of which there are the fewest with kReducedBlocks indices. One over a single
// dim stays, as does one with symbolic sizes. Sums of 16-bit floats are rounded once, at the end.
void splitLongReductions(mlir::func::FuncOp function);

// Results of at most kFewResults elements, made of at least kManyOperands each, are reduced in two
// steps.
inline constexpr int64_t kFewResults = 1024, kManyOperands = 1 << 16, kReducedBlocks = 64;

// Registers --cleave-decompose-long-reductions.
void registerLongReductionsPass();

} // namespace cleave::decompose
