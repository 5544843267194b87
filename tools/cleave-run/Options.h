// What the user asks cleave-run for.
#pragma once

#include "runtime/base/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cleave::run {

struct Options {
  std::string plan;
  std::vector<std::string> data;
  std::optional<int64_t> steps; // up to which one; none: one pass over the data
  std::optional<int> ranks;     // none: the plan's
  int threads = 0;              // per rank; 0: this machine's share
  uint64_t seed = 0;
  bool shuffles = false;
  std::optional<uint64_t> shuffleSeed; // none: `seed`
  std::string save, resume, log, out, profile, model;
  int64_t saveEvery = 0; // 0: at the end only
  int profiledSteps = 3;
  bool memoryReport = false;
  bool quiet = false;
  bool checked = false;    // CLEAVE_CHECK_KERNELS of the environment
  int timeoutSeconds = 60; // that a rank may be waited for
  int stallSeconds = 0;    // 0: no limit
};

// Parses the command line. The exit code when nothing is to be run (help was printed, or a mistake
// was reported); nothing when the options are complete.
std::optional<int> parseOptions(int argc, char **argv, Options &options);

} // namespace cleave::run
