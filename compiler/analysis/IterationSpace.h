// The iteration space of a kernel group: which dims of which values run over the same loop.
//
// Every dim of every value that the ops touch belongs to one factor; dims that an op makes equal
// belong to the same factor. Dims of size one have no factor (-1) since they need no loop; values
// whose elements are all equal have no factors. The fusion pass tests whether ops share one space;
// the code generator makes a loop per factor. Works on global and on local shapes.
#pragma once

#include "dialects/graph/Graph.h"

#include "llvm/ADT/DenseMap.h"

namespace cleave::analysis {

// The factors of a list of ops, and of the dims of their values.
struct IterationSpace {
  std::vector<Polynomial> sizes;                            // per factor
  llvm::DenseMap<mlir::Value, llvm::SmallVector<int>> dims; // per value and dim its factor, or -1
  // Per reduction the factors that it reduces.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<int>> reduced;

  // The factor of a dim, or -1.
  int factorOf(mlir::Value value, unsigned dim) const;
  // The factors of a value, sorted, without its dims of size one.
  llvm::SmallVector<int> factorsOf(mlir::Value value) const;
  // Whether no value has two dims of one factor. x + transpose(x) has, and no loop nest can compute
  // it.
  bool isProper() const;
};

// Whether the op can be part of a kernel group: pointwise ops, broadcasts, reductions, splat
// constants, iotas, transposes, and reshapes that only add or drop dims of size one.
bool isGroupable(mlir::Operation *op);

// The common space of groupable ops, of the values that they touch, and of additional `values`.
IterationSpace iterationSpaceOf(llvm::ArrayRef<mlir::Operation *> ops,
                                mlir::ValueRange values = {});

} // namespace cleave::analysis
