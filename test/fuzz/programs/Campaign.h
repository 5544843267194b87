// Campaign: runs many random cases in child processes, so that crashes and hangs are findings like
// wrong numbers. Failing cases are shrunk and written as text.
#pragma once

#include "test/fuzz/programs/Choices.h"

#include <array>
#include <string>

namespace cleave::fuzz {

// The result of a case, in memory shared by child and parent, so that it survives the death of the
// child.
struct Report {
  static constexpr int kCounts = 12;
  std::array<int64_t, kCounts> counts; // by CampaignOptions::counted, over all cases of the child
  uint64_t seed;                       // of the running case
  bool failed;
  char message[4096];
  char text[4 << 20]; // the text of the case, which can be replayed

  // Sets the text of the running case. To be called before the case can fail.
  void begin(const std::string &text);
  void fail(const std::string &message);
};

struct CampaignOptions {
  uint64_t first = 1;                // seed
  uint64_t cases = 100;              // seeds; 0: until the time is over
  double seconds = 0;                // 0: no limit
  int jobs = 1;                      // processes
  int keep = 1;                      // number of failures after which the campaign ends
  int shrinks = 300;                 // runs to shrink a failing case
  std::string out = ".";             // folder for failing cases
  std::string name;                  // of the campaign's files: NAME-SEED.mlir
  std::vector<const char *> counted; // names of Report::counts
};

using Experiment = void (*)(Choices &choices, Report &report);

// Runs the cases, and prints counts and failures. Returns the number of failures.
int runCampaign(const CampaignOptions &options, Experiment experiment);

// Runs work in a child process. False, with a message in the report, if it fails or dies.
bool runGuarded(Report &report, const std::function<void()> &work);
// Allocates a report in memory that is shared with child processes.
Report *sharedReport();

} // namespace cleave::fuzz
