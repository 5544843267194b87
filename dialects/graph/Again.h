// Again: the mark of ops that compute values of the forward part once more, for the backward part
// (passes/remat). CSE does not merge ops with different attributes, so a marked op is never merged
// with the one that it repeats, nor with another repetition of it.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace cleave::graph {

// An integer attribute of such an op: which repetition it is, from 1.
inline constexpr llvm::StringLiteral kAgain = "graph.again";

inline bool isAgain(mlir::Operation *op) { return op->hasAttr(kAgain); }
// Which repetition the op is; 0: none.
inline int64_t repetitionOf(mlir::Operation *op) {
  auto number = op->getAttrOfType<mlir::IntegerAttr>(kAgain);
  return number ? number.getInt() : 0;
}
inline void markAgain(mlir::Operation *op, int64_t number) {
  op->setAttr(kAgain, mlir::IntegerAttr::get(mlir::IntegerType::get(op->getContext(), 64), number));
}

} // namespace cleave::graph
