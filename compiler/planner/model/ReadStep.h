// From the IR to the planner's plain StepModel.
#pragma once

#include "compiler/planner/model/StepModel.h"

#include "dialects/graph/Graph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Support/LLVM.h"

namespace cleave::planner {

// The step, its ops in the order of graph::opsOf(). Fails with a diagnostic if a shape is symbolic
// or an op has no factor rule.
mlir::FailureOr<StepModel> readStep(mlir::func::FuncOp step);

} // namespace cleave::planner
