// What cleave-compile tells after its work: remarks, the plan in short, times.
#pragma once

#include "passes/driver/Compile.h"

// Prints remarks and times to standard error; after success also the plan's summary to standard output.
void printReport(const cleave::driver::Compilation &compilation, bool succeeded);
