// The simplification pass: cleans up what exporters and importers write, and recognises composites
// that an exporter spelled out. It changes results at most by rounding.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace cleave::simplify {

// Folds constants, removes what computes nothing, merges equal ops, and forms gelu, silu, relu,
// layer_norm and rms_norm from their parts, until nothing changes.
mlir::LogicalResult simplify(mlir::func::FuncOp function);

// --cleave-simplify
std::unique_ptr<mlir::Pass> createSimplifyPass();
void registerSimplifyPasses();

} // namespace cleave::simplify
