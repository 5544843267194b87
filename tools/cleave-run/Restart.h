// How a run is continued: after ranks were lost, by cleave-run's own launcher or another one; after
// it has stopped, by the user.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"
#include "tools/cleave-run/Options.h"

#include <string>

namespace cleave::run {

// A user error unless the plan is for `found` ranks, which `from` (an option or a launcher) gives.
Status checkRanks(const plan::Plan &plan, int found, const std::string &from);

// The options of restart number `number` (from 1): like `given`, but it resumes from the newest
// checkpoint in --save, if there is one. `reason`: why ranks were lost, for the log.
Options optionsOfRestart(const Options &given, int number, const std::string &reason);

// Where the run begins: the folder that it resumes from in quotes, or `the beginning`.
std::string originText(const Options &options);

// `; resume with: cleave-run gpt.plan … --resume saved`: the end of the message of a run that has
// stopped. The command is the given one, from the newest checkpoint in --save, or else from the
// checkpoint in --resume. Empty without a checkpoint.
std::string resumeText(const Options &given);

} // namespace cleave::run
