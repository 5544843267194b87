// AlikeStages: stages of a pipeline that differ only in names, as stages of equal layers do. A plan
// of one serves all of them, which is much faster than a search for each.
#pragma once

#include "passes/driver/PlanModule.h"

namespace cleave::driver {

// Whether the steps of two modules of the phase `primitive` are equal but for the names of
// arguments, results and ops, the stages that they pass messages to, the order of micro-batches,
// and which scalars ops read: stages add the norms of their gradients in different places of one
// sum.
bool areAlike(mlir::ModuleOp a, mlir::ModuleOp b);

// Decides on the step of `module`, which areAlike() finds equal to the step of `like` and which may
// have other micro-batches in flight. Takes the fastest plan that keeps everything if that fits,
// else the decisions of `like`. If these do not fit, or leave more than a twentieth of the budget,
// the layouts stay, and what is recomputed is chosen anew. Nothing if no such plan fits. `options`:
// as for planModule, with the mesh of `like`.
Result<std::optional<PlannedModule>> planAlike(mlir::ModuleOp module, const PlannedModule &like,
                                               const cluster::Cluster &cluster,
                                               const planner::PlannerOptions &options);

} // namespace cleave::driver
