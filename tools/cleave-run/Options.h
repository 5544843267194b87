// The command-line options of cleave-run.
#pragma once

#include "runtime/base/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cleave::run {

struct Options {
  std::string plan;              // path of the plan file
  std::vector<std::string> data; // values of --data
  std::optional<int64_t> steps;  // total, with those before --resume; none: one pass over data
  std::optional<int> ranks;      // processes to start; none: ranks of the plan
  int threads = 0;               // per rank; 0: cores of this machine divided by its ranks
  uint64_t seed = 0;             // of random numbers
  bool shuffles = false;
  std::optional<uint64_t> shuffleSeed;                // none: `seed`
  std::string save, resume, log, out, profile, model; // paths; empty: option not given
  int64_t saveEvery = 0; // steps between checkpoints; 0: at the end only
  int profiledSteps = 3;
  bool memoryReport = false;
  bool quiet = false;
  bool checked = false;    // CLEAVE_CHECK_KERNELS of the environment
  int timeoutSeconds = 60; // without an answer before a rank is considered lost
  int stallSeconds = 0;    // without progress before the job is ended; 0: no limit
};

// Parses the command line into `options`. Returns an exit code if the tool must end (after printing
// help or an error), else nothing.
std::optional<int> parseOptions(int argc, char **argv, Options &options);

} // namespace cleave::run
