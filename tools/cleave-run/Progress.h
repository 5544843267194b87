// What rank 0 shows while steps run: a bar that moves on a terminal, some plain lines otherwise.
#pragma once

#include "runtime/executor/Executor.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace cleave::run {

class Progress {
public:
  // Steps `first` to `first + count`; shows nothing if `quiet`.
  Progress(int64_t first, int64_t count, bool quiet);
  ~Progress();

  // A step was done.
  void step(int64_t step, const std::vector<executor::MetricValue> &metrics);
  // Ends the bar's line.
  void finish();

private:
  void showBar(int64_t done, const std::string &numbers);
  // `loss 1.2345  12.3 steps/s`
  std::string numbers(int64_t done, const std::vector<executor::MetricValue> &metrics) const;

  using Clock = std::chrono::steady_clock;
  int64_t first_, count_;
  bool quiet_, terminal_;
  bool barShown_ = false;
  Clock::time_point begin_, shown_;
  double firstStepSeconds_ = 0;
};

} // namespace cleave::run
