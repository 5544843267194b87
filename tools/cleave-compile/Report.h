// Output of cleave-compile: remarks, times, summary of the plan.
#pragma once

#include "passes/driver/Compile.h"

#include <string>

namespace cleave::compile {

// Prints warnings and answers to standard error and, after success, about ten lines on the plan to
// standard output; with -v all remarks, times and the summary of the plan.
void printReport(const driver::Compilation &compilation, bool succeeded);

// Prints a result of a long search to standard error at once.
void printResult(const std::string &result);

} // namespace cleave::compile
