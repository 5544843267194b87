// The run of one rank, from joining the other ranks to its last step.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"
#include "runtime/launch/Launch.h"
#include "tools/cleave-run/Options.h"

namespace cleave::run {

// Runs the rank of a verified plan. Ends, as all ranks of the job, if their plans, options or files
// differ. Reports every step to `reporter`. The message of a failure has the rank.
Status runRank(const plan::Plan &plan, const Options &options,
               const launch::RankEnvironment &environment, launch::StepReporter &reporter);

} // namespace cleave::run
