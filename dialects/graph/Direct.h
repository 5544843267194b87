// Direct: the mark of convolutions, and of their gradients, that a generated kernel computes
// directly instead of the device's library (passes/decompose/DirectConvolutions.h). Each element of
// the result is a sum of its own.
#pragma once

#include "dialects/graph/Types.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace cleave::graph {

// A unit attribute of such an op.
inline constexpr llvm::StringLiteral kDirect = "graph.direct";

inline bool isDirect(mlir::Operation *op) { return op->hasAttr(kDirect); }
inline void markDirect(mlir::Operation *op) {
  op->setAttr(kDirect, mlir::UnitAttr::get(op->getContext()));
}

} // namespace cleave::graph
