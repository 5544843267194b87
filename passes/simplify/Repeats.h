// Repeats: the dims along which a tensor holds the same elements again and again, found through
// pointwise and movement ops, and the tensor without the repetition.
#pragma once

#include "dialects/graph/Build.h"

#include "llvm/ADT/SmallBitVector.h"

namespace cleave::simplify {

// The dims of `value` along which all elements are known to be equal, those of size 1 included.
llvm::SmallBitVector repeatedDims(mlir::Value value);

// `value` with size 1 in these of its repeated dims.
mlir::Value withoutRepeats(mlir::OpBuilder &b, mlir::Value value, const llvm::SmallBitVector &dims);

} // namespace cleave::simplify
