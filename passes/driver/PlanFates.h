// PlanFates: the plan of a step in which it is decided what is computed again.
#pragma once

#include "compiler/planner/Fates.h"
#include "passes/driver/DecideStep.h"

namespace cleave::driver {

// The step of a module of the phase `primitive` with the buffers of its program. A user error if it
// cannot be read or has no program.
Result<planner::StepModel> readModel(mlir::ModuleOp module);

// Realises the fates in a copy of the module, whose step `model` is, and plans its sharding. Memory
// is that of the program (PlannedProgram.h). Errors as of planStep.
Result<Decided> planWithFates(mlir::ModuleOp module, const planner::StepModel &model,
                              const planner::Fates &fates, const cluster::Cluster &cluster,
                              planner::PlannerOptions options);

} // namespace cleave::driver
