// The log of a run in JSON lines: one per step, then one per rank.
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

  // Creates or truncates the file. A log that is not open drops its lines.
  Status open(const std::string &path);
  // Writes {"step", metrics by name, "seconds"}. Non-finite numbers become null.
  Status step(int64_t step, const std::vector<executor::MetricValue> &metrics, double seconds);
  // Writes one line unchanged.
  Status line(const std::string &text);

private:
  std::string path_;
  FILE *file_ = nullptr;
};

// The final line of one rank: planned, allocated and resident bytes.
std::string rankLine(int rank, const executor::MemoryNumbers &numbers,
                     const memory::MemoryReport &report);

} // namespace cleave::run
