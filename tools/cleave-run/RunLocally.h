// A run on this machine: starts all ranks, and starts them again if some are lost.
#pragma once

#include "tools/cleave-run/Options.h"
#include "tools/cleave-run/Plans.h"

namespace cleave::run {

// Runs to the end and returns the tool's exit code; prints the failure, if there is one.
int runLocally(const Plans &plans, const Options &options);

} // namespace cleave::run
