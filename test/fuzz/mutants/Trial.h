// Runs one plan in a process of its own and says how that process ended.
#pragma once

#include "runtime/artifact/program.pb.h"

#include <string>

namespace cleave::fuzz {

enum class Outcome {
  Refused, // by the verifier, before anything was loaded
  Message, // a user error or a lost rank
  Ran,     // all steps
  Defect,  // an error that blames Cleave, exit code 4
  Signal,  // also: a sanitizer's report, an access that a checked kernel refused
  TimedOut,
};

// The name of an outcome for people.
const char *nameOf(Outcome outcome);

struct Trial {
  Outcome outcome;
  std::string text; // what the process wrote to standard error
};

struct TrialOptions {
  std::string data; // file of --data
  int64_t steps = 2;
  int secondsLimit = 60; // wall-clock, for everything
};

// Writes and reads the plan, with a new content hash, verifies it, and runs it with one thread per
// rank in the executor's checked mode, in a child process.
Trial tryPlan(const plan::Plan &plan, const TrialOptions &options);

} // namespace cleave::fuzz
