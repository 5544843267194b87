// The log of a run in JSON lines: one per step, then a summary and one per rank.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/executor/Executor.h"
#include "runtime/memory/MemoryReport.h"

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cleave::run {

class RunLog {
public:
  RunLog() = default;
  ~RunLog();
  RunLog(const RunLog &) = delete;
  RunLog &operator=(const RunLog &) = delete;

  // Creates or truncates the file. A run that resumes at step `resumed` appends to it, after
  // cutting the lines of this and later steps, the summary, those of the ranks, and an incomplete
  // last line. A log that is not open drops its lines.
  Status open(const std::string &path, std::optional<int64_t> resumed);
  // Whether lines are written or kept.
  bool takesLines() const { return file_ || keepsLines_; }
  // Writes {"step", metrics by name, "seconds"}, "host_seconds" on GPUs, `more` by name,
  // and "skipped" if the update was undone. Non-finite numbers become null.
  Status step(int64_t step, const std::vector<executor::MetricValue> &metrics, double seconds,
              std::optional<double> hostSeconds,
              const std::vector<std::pair<std::string, double>> &more, bool isSkipped);
  // Writes {"event": "eval", "step", numbers by name, "seconds"} after a step.
  Status evaluation(int64_t step, const std::vector<std::pair<std::string, double>> &numbers,
                    double seconds);
  // Writes {"event": "restart", …}: the number of the restart, the ranks and the step with which it
  // begins, and its reason.
  Status restart(int number, int ranks, int64_t step, const std::string &reason);
  // Writes one line unchanged.
  Status line(const std::string &text);

  // Keeps the lines of this run, and those in a file that it continues, for lines().
  void keepLines() { keepsLines_ = true; }
  const std::vector<std::string> &lines() const { return lines_; }

private:
  std::string path_;
  FILE *file_ = nullptr;
  bool keepsLines_ = false;
  std::vector<std::string> lines_;
};

// The final line of one rank: planned, allocated and resident bytes.
std::string rankLine(int rank, const executor::MemoryNumbers &numbers,
                     const memory::MemoryReport &report);

} // namespace cleave::run
