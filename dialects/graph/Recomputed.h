// Recomputed: the mark of ops that recompute values of the forward part for the backward part
// (passes/remat). CSE does not merge ops with different attributes, so a marked op is never merged
// with the original op, nor with another recomputation of it.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace cleave::graph {

// An integer attribute of such an op: the number of the recomputation, from 1.
inline constexpr llvm::StringLiteral kRecomputed = "graph.recomputed";

inline bool isRecomputed(mlir::Operation *op) { return op->hasAttr(kRecomputed); }
// The number of the recomputation that the op is; 0: it is not one.
inline int64_t recomputationOf(mlir::Operation *op) {
  auto number = op->getAttrOfType<mlir::IntegerAttr>(kRecomputed);
  return number ? number.getInt() : 0;
}
inline void markRecomputed(mlir::Operation *op, int64_t number) {
  op->setAttr(kRecomputed,
              mlir::IntegerAttr::get(mlir::IntegerType::get(op->getContext(), 64), number));
}

} // namespace cleave::graph
