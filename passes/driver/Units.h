// Units: work on every program of a compilation.
#pragma once

#include "passes/driver/Compile.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace cleave::driver {

// Calls `work` for each unit, the step first, until one fails. Remarks on other units than the step
// are dropped, since those on the step say the same; their failures name the unit.
Status forEachUnit(Compilation &c, llvm::function_ref<Status(Unit &)> work);

} // namespace cleave::driver
