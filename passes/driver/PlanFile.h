// PlanFile: what the compiler knows beside the programs goes into the plan: source, prediction, decisions.
#pragma once

#include "passes/driver/Compile.h"

namespace cleave::driver {

// Fills in c.plan's source, prediction, decisions and command line from the rest of the compilation.
Status completePlan(Compilation &c);

} // namespace cleave::driver
