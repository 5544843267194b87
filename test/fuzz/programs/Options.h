// The command line of fuzz-kernels and fuzz-programs.
#pragma once

#include "test/fuzz/programs/Campaign.h"

namespace cleave::fuzz {

// Runs the campaign, or `replay` for every given file (for a folder: every .mlir file in it).
// Returns the exit code of main.
int runTool(int argc, char **argv, CampaignOptions &options, Experiment experiment,
            int (*replay)(const std::string &path));

} // namespace cleave::fuzz
