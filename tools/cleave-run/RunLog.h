// The log of a run: JSON lines, one per step while it runs and one per rank at its end.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/executor/Executor.h"
#include "runtime/memory/MemoryReport.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace cleave::run {

class RunLog {
public:
  RunLog() = default;
  ~RunLog();
  RunLog(const RunLog &) = delete;
  RunLog &operator=(const RunLog &) = delete;

  // Creates the file, anew if there was one. A log that was not opened drops its lines.
  Status open(const std::string &path);
  // {"step", metrics by name, "seconds"}. A number that is not finite becomes null.
  Status step(int64_t step, const std::vector<executor::MetricValue> &metrics, double seconds);
  // One line as it is.
  Status line(const std::string &text);

private:
  std::string path_;
  FILE *file_ = nullptr;
};

// The line about one rank at the end.
std::string rankLine(int rank, const executor::MemoryNumbers &numbers,
                     const memory::MemoryReport &report);

} // namespace cleave::run
