// DecideStep: the decisions on a step: what is computed again, and how everything is split.
//
// If the fastest plan that keeps everything fits, it is taken. Else fates are chosen for the
// sharding that is best without a limit (compiler/planner/ChooseFates.h), realised in the step
// (passes/remat/Realise.h), and the sharding of that step is planned from its own program. The
// bytes that the first choice counts differ from those of the realised step, so it is repeated with
// a corrected target, a few times. The same is done for a plan that is split a little more finely.
// The fastest plan that fits wins, be it one with these fates, a recipe's, or one that keeps
// everything.
#pragma once

#include "compiler/planner/Planner.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace cleave::driver {

// The decisions, and the step that they are for.
struct Decided {
  mlir::OwningOpRef<mlir::ModuleOp> module; // with the repetitions
  planner::StepModel model;                 // of its step
  planner::Plan plan;
  std::string recomputation; // one sentence; empty if nothing is computed again
};

// Decides on the step of a module of the phase `primitive`, which stays as it is. Errors as of
// planStep and forcedFates; a user error if the step cannot be read or has no program.
Result<Decided> decideStep(mlir::ModuleOp module, const cluster::Cluster &cluster,
                           const planner::PlannerOptions &options);

} // namespace cleave::driver
