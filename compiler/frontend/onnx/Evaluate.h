// Evaluator: the values that depend on no data (shapes, axes, positions), computed while importing
// by the ops' own reference semantics. Nothing in the IR changes.
#pragma once

#include "dialects/graph/Graph.h"

#include "llvm/ADT/DenseMap.h"

namespace cleave::onnx {

class Evaluator {
public:
  // The value, if it follows from constants alone and everything on the way is small. Integers
  // beyond 2^53, which exporters write for "to the end", become ±2^53.
  std::optional<Tensor> evaluate(mlir::Value value);

private:
  bool compute(mlir::Operation *op);

  llvm::DenseMap<mlir::Operation *, std::optional<llvm::SmallVector<Tensor>>> known_;
};

} // namespace cleave::onnx
