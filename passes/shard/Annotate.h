// Annotate: a Plan as attributes of the step (mesh.mesh, mesh.strategy, mesh.buckets, mesh.copies,
// mesh.sharding, mesh.compute, mesh.stays_gathered), and back.
#pragma once

#include "compiler/planner/report/PlanReport.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace cleave::shard {

// Sets the attributes. The decisions must be those on this step.
void annotate(mlir::func::FuncOp step, const planner::Decisions &decisions);

// The same, and emits the plan's remarks in the category `planner` if the context has a
// remark engine (cleave-opt --remarks-filter=planner).
void annotate(mlir::func::FuncOp step, const planner::PlanReport &plan);

// The decisions that the attributes state. An op or argument without any is not split. Fails with a
// diagnostic where attributes contradict the mesh or the op's rule.
mlir::FailureOr<planner::Decisions> readAnnotations(mlir::func::FuncOp step);

} // namespace cleave::shard
