// Output of cleave-compile: remarks, times, summary of the plan.
#pragma once

#include "passes/driver/Compile.h"

namespace cleave::compile {

// Prints remarks and times to standard error, and after success the summary of the plan to
// standard output.
void printReport(const driver::Compilation &compilation, bool succeeded);

} // namespace cleave::compile
