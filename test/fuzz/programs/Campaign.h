// Campaign: many random cases, each run in a child process, so that a crash or a hang is a finding like a wrong number; what
// fails is shrunk and written down as text.
#pragma once

#include "test/fuzz/programs/Choices.h"

#include <array>
#include <string>

namespace cleave::fuzz {

// What a case leaves behind, also if its process dies: memory that child and parent share.
struct Report {
  static constexpr int kCounts = 12;
  std::array<int64_t, kCounts> counts; // of the campaign's CampaignOptions::counted, over all cases of the child
  uint64_t seed;                       // of the case that runs
  bool failed;
  char message[4096];
  char text[4 << 20]; // the case as it can be committed and replayed

  // Sets the text of the running case, before anything can go wrong with it.
  void begin(const std::string &text);
  void fail(const std::string &message);
};

struct CampaignOptions {
  uint64_t first = 1;     // seed
  uint64_t cases = 100;   // seeds; 0: until the time is over
  double seconds = 0;     // 0: no limit
  int jobs = 1;           // processes
  int keep = 1;           // failures, after which it ends
  int shrinks = 300;      // runs of a failing case to make it smaller
  std::string out = ".";  // folder for failing cases
  std::string name;       // of the campaign's files: NAME-SEED.mlir
  std::vector<const char *> counted; // names of Report::counts
};

using Experiment = void (*)(Choices &choices, Report &report);

// Runs the cases, prints counts and failures. Returns the number of failures.
int runCampaign(const CampaignOptions &options, Experiment experiment);

// Runs one thing in a child process; false, with a message in the report, if it failed or died.
bool runGuarded(Report &report, const std::function<void()> &work);
// Memory for a report that children share.
Report *sharedReport();

} // namespace cleave::fuzz
