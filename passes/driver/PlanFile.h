// PlanFile: adds the source, the prediction and the planner's decisions to the plan.
#pragma once

#include "passes/driver/Compile.h"

namespace cleave::driver {

// Adds the hash of the model file to graph.model, unless it is there (dialects/graph/Provenance.h).
Status recordHash(mlir::ModuleOp module);

// Sets the source, prediction, decisions and command line of c.plan. The cluster has been read.
Status completePlan(Compilation &c);

} // namespace cleave::driver
