// PlanPhase: the phase `planned`: decides on the step, and answers what the user asks beside.
#pragma once

#include "passes/driver/Compile.h"

namespace cleave::driver {

// Annotates the step with the best plan found. Writes the files of --dump-phases and --pareto that
// tell about planning. Infeasible if no plan fits: the message ends with computed ways out.
Status runPlanPhase(Compilation &c);

} // namespace cleave::driver
