// GivenSolution: the planner's cost network as a file, and plans from solutions of it that others
// found (cleave-solve, or any program that reads the JSON of compiler/solver/Json.h).
#pragma once

#include "passes/driver/PlanModule.h"

#include <string>

namespace cleave::driver {

// Writes the network of the module's step, without recomputation, on the mesh of the options.
// Errors as of planner::networkOf; a failure to write.
Status writeProblem(const std::string &path, mlir::ModuleOp module, const cluster::Cluster &cluster,
                    const planner::PlannerOptions &options);

// The decisions of a solution file for that network. Errors as of planner::planOf; a user error if
// the file is not one.
Result<PlannedModule> planAsGiven(const std::string &path, mlir::ModuleOp module,
                                  const cluster::Cluster &cluster, planner::TrialOptions options);

} // namespace cleave::driver
