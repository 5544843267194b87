// The iteration space of a kernel group: which dims of which values run over the same loop.
//
// Every dim of every value that the ops touch belongs to one factor, dims that an op makes equal to
// the same one. Dims of size one belong to none (-1): they cost no loop; values with all elements
// equal have no factors at all. The fusion pass asks whether ops share one space, the code
// generator makes loops from it. Works on whole and on local shapes.
#pragma once

#include "dialects/graph/Graph.h"

#include "llvm/ADT/DenseMap.h"

namespace cleave::analysis {

struct IterationSpace {
  std::vector<Polynomial> sizes;                            // per factor
  llvm::DenseMap<mlir::Value, llvm::SmallVector<int>> dims; // per value and dim its factor, or -1
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<int>>
      reduced; // of a reduce, the factors that vanish

  // The factor of a dim, or -1.
  int factorOf(mlir::Value value, unsigned dim) const;
  // The factors of a value, sorted; those of its dims of size one are left out.
  llvm::SmallVector<int> factorsOf(mlir::Value value) const;
  // Whether no value has two dims of one factor, as x + transpose(x) would: there is no loop nest
  // for it.
  bool isProper() const;
};

// Whether ops of this kind can be parts of a kernel group: pointwise ops, broadcasts, reductions,
// splat constants, iotas, transposes, and reshapes that only add or drop dims of size one.
bool isGroupable(mlir::Operation *op);

// The common space of groupable ops, and of `values` beside those that the ops touch.
IterationSpace iterationSpaceOf(llvm::ArrayRef<mlir::Operation *> ops,
                                mlir::ValueRange values = {});

} // namespace cleave::analysis
