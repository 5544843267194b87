// WhatIf: what the plan would be under other options (--what-if), each found by planning it.
#pragma once

#include "passes/driver/Variants.h"

namespace cleave::driver {

// Beside `plan`, the plan of these options: more memory if that saves time, three quarters and half
// of the plan's; twice and half the ranks; the next larger and smaller number of micro-batches;
// other recipes for recomputation; the next best mesh; no mesh and no pins if these were given.
// Variants that the options rule out, such as half of one rank, are left out. A defect ends it.
Result<std::vector<Variant>> whatIf(Variants &variants, const CompileOptions &options,
                                    const planner::PlanReport &plan);

} // namespace cleave::driver
