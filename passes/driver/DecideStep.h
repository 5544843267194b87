// DecideStep: the decisions on a step: what is computed again, and how everything is split.
//
// If the fastest plan that keeps everything fits, it is taken. Else layouts and fates are bounded
// and chosen together on every mesh (compiler/planner/search/JointMeshes.h), or it is proven that
// no plan fits on any. For these layouts fates are chosen once more, now with the instants at which
// repetitions run (ChooseFates.h), and realised in the step (passes/remat/Realise.h); the
// repetitions get layouts around the others, and memory is that of the program. The bytes that the
// choice of fates counts differ from it, so it is repeated with a corrected target, a few times.
//
// Only if the best such plan is not close to the bound are fates chosen for the layouts that are
// best without a limit, and for some that are split a little more finely, and plans searched that
// keep everything. The fastest plan that fits wins.
#pragma once

#include "compiler/planner/remat/Fates.h"
#include "compiler/planner/search/Planner.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace cleave::driver {

// The decisions, and the step that they are for.
struct Decided {
  mlir::OwningOpRef<mlir::ModuleOp> module; // with the repetitions
  planner::Fates fates;                     // of the step without them
  planner::StepModel model;                 // of its step
  planner::Plan plan;
  std::string recomputation; // one sentence; empty if nothing is computed again
};

// Decides on the step of a module of the phase `primitive`, which stays as it is. Errors as of
// planStep and forcedFates; a user error if the step cannot be read or has no program.
Result<Decided> decideStep(mlir::ModuleOp module, const cluster::Cluster &cluster,
                           const planner::PlannerOptions &options);

} // namespace cleave::driver
