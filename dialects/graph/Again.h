// Again: the mark of ops that compute values of the forward part a second time, for the backward
// part (passes/remat). CSE does not merge ops with different attributes, so a marked op is never
// merged with the one that it repeats.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace cleave::graph {

// A unit attribute of such an op.
inline constexpr llvm::StringLiteral kAgain = "graph.again";

inline bool isAgain(mlir::Operation *op) { return op->hasAttr(kAgain); }
inline void markAgain(mlir::Operation *op) {
  op->setAttr(kAgain, mlir::UnitAttr::get(op->getContext()));
}

} // namespace cleave::graph
