// The simplification pass: cleans up what exporters and importers write, and recognises composites
// that an exporter spelled out. It changes results at most by rounding.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace cleave::simplify {

enum class Composites { Form, Leave };

// Folds constants, removes what computes nothing and merges equal ops, until nothing changes; with `Form` also makes
// activation functions, norms, rotary and attention of their parts.
mlir::LogicalResult simplify(mlir::func::FuncOp function, Composites composites = Composites::Form);

// --cleave-simplify, which forms composites
std::unique_ptr<mlir::Pass> createSimplifyPass();
void registerSimplifyPasses();

} // namespace cleave::simplify
