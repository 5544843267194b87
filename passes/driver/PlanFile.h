// PlanFile: adds the source, the prediction and the planner's decisions to the plan.
#pragma once

#include "passes/driver/Compile.h"

namespace cleave::driver {

// Sets the source, prediction, decisions and command line of c.plan.
Status completePlan(Compilation &c);

} // namespace cleave::driver
