// What one rank does from joining the others to its last step.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"
#include "runtime/launch/Launch.h"
#include "tools/cleave-run/Options.h"

namespace cleave::run {

// Runs the rank. The plan is verified and has environment.size ranks. `reporter` is told every
// step.
Status runRank(const plan::Plan &plan, const Options &options,
               const launch::RankEnvironment &environment, launch::StepReporter &reporter);

} // namespace cleave::run
