// --report: a page for browsers that shows a run: curves over the steps, and memory.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"

#include <string>
#include <vector>

namespace cleave::run {

// The content of a run's page.
struct RunRecord {
  std::string planPath;
  std::string options;            // of the run, as the section [run] of a train.toml
  std::vector<std::string> lines; // of the log (RunLog.h)
  int64_t samples = 0;            // of a step; 0: unknown
  std::string error;              // how the run failed, or empty
};

// Writes the page, whose data are {"runs": [RUN]}: cleave-dump joins several. Without a line of a
// step nothing is written. A user error if the file cannot be written.
Status writeReport(const std::string &path, const plan::Plan &plan, const RunRecord &run);

} // namespace cleave::run
