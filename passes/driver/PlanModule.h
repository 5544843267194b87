// PlanModule: the decisions on the step of a module: what is recomputed, and how everything is
// split. The search is compiler/planner/search/SearchPlan.h.
#pragma once

#include "compiler/planner/search/Trials.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>

namespace cleave::driver {

// The decisions, and the step that they are for.
struct PlannedModule {
  mlir::OwningOpRef<mlir::ModuleOp> module; // with the recomputed ops
  planner::RematPolicy policy;              // of the step without them
  planner::StepModel model;                 // of its step
  planner::PlanReport plan;
  std::optional<planner::PricedDecisions> around; // PlannedStep::around
  std::string recomputation;                      // one sentence; empty if nothing is recomputed
};

// The decisions of a plan whose step is a ModuleStep, as are all copies that it makes.
PlannedModule plannedModule(planner::PlannedStep planned);

// Decides on the step of a module of the phase `primitive`, which stays as it is. Errors as of
// planner::searchPlan; a user error if the step cannot be read or has no program. `seen` gets the
// extremes among its programs.
Result<PlannedModule> planModule(mlir::ModuleOp module, const cluster::Cluster &cluster,
                                 const planner::PlannerOptions &options, planner::Seen &seen);
Result<PlannedModule> planModule(mlir::ModuleOp module, const cluster::Cluster &cluster,
                                 const planner::PlannerOptions &options);

} // namespace cleave::driver
