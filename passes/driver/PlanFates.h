// PlanFates: the plan of a step in which it is decided what is computed again.
#pragma once

#include "compiler/planner/remat/Fates.h"
#include "passes/driver/DecideStep.h"

namespace cleave::driver {

// The step of a module of the phase `primitive` with the buffers of its program. A user error if it
// cannot be read or has no program.
Result<planner::StepModel> readModel(mlir::ModuleOp module);

// A copy of the module, whose step `model` is, in which the fates are realised, and its step. The
// plan is open.
Result<Decided> realiseFates(mlir::ModuleOp module, const planner::StepModel &model,
                             const planner::Fates &fates);

// The memory of programs of the module's step, which is `model` (memoryOf in PlannedProgram.h).
// Module, model and cluster must live as long as the function.
planner::MemoryOf memoryOfPrograms(mlir::ModuleOp module, const planner::StepModel &model,
                                   const cluster::Cluster &cluster, const planner::Budget &budget);

// Realises the fates and plans the sharding of the step. Errors as of planStep.
Result<Decided> planWithFates(mlir::ModuleOp module, const planner::StepModel &model,
                              const planner::Fates &fates, const cluster::Cluster &cluster,
                              planner::PlannerOptions options);

} // namespace cleave::driver
