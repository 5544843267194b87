// The command line of fuzz-kernels and fuzz-programs.
#pragma once

#include "test/fuzz/programs/Campaign.h"

namespace cleave::fuzz {

// Runs the campaign, or `replay` on every file that is given (folders: every .mlir file in them). Returns main's exit code.
int runTool(int argc, char **argv, CampaignOptions &options, Experiment experiment,
            int (*replay)(const std::string &path));

} // namespace cleave::fuzz
