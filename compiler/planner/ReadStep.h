// From the IR to the planner's plain StepModel.
#pragma once

#include "compiler/planner/StepModel.h"

#include "dialects/graph/Graph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Support/LLVM.h"

namespace cleave::planner {

// Ops are numbered as graph::opsOf() lists them. Fails with a diagnostic where a shape is still symbolic
// or an op has no factor rule.
mlir::FailureOr<StepModel> readStep(mlir::func::FuncOp step);

// The inside of a kernel group, ops in program order.
Group readGroup(graph::FusionOp fusion);

} // namespace cleave::planner
