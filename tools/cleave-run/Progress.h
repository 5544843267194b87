// Progress of a run on rank 0: a bar on a terminal, elsewhere a plain line every ten seconds.
#pragma once

#include "runtime/executor/Executor.h"
#include "tools/cleave-run/Options.h"
#include "tools/cleave-run/RunData.h"
#include "tools/cleave-run/Speed.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace cleave::run {

class Progress {
public:
  // Reports steps [first, first + count) of `plan` on `data`, which outlive this object, with their
  // place in all epochs if --epochs gives these. With --verbose every step has a line off
  // terminals. Prints nothing with --quiet, where a text is generated, and unless `isFirst`: on
  // rank 0.
  Progress(int64_t first, int64_t count, const plan::Plan &plan, const RunData &data,
           const Options &options, bool isFirst);
  ~Progress();

  bool isQuiet() const { return quiet_; }
  // Call after every step, with its index and metrics.
  void step(int64_t step, const std::vector<executor::MetricValue> &metrics);
  // Call after an evaluation, which took these seconds: they do not count for the speed of steps.
  void evaluation(int64_t step, const std::vector<std::pair<std::string, double>> &numbers,
                  double seconds);
  // Ends the line of the progress bar.
  void finish();

private:
  void showBar(int64_t done, const std::vector<std::string> &parts);
  // `loss 1.2345`, `20.0 s left`, `12.3 steps/s`, `98.4 samples/s`, `MFU 3.1 %`, `epoch 1.3/3`:
  // what is left out first, where there is no room, comes last.
  std::vector<std::string> parts(int64_t done,
                                 const std::vector<executor::MetricValue> &metrics) const;

  using Clock = std::chrono::steady_clock;
  int64_t first_, count_;
  const RunData &data_;
  Speed speed_;
  int64_t epochs_;
  bool quiet_, verbose_, terminal_;
  bool barShown_ = false;
  Clock::time_point begin_, shown_;
  double firstStepSeconds_ = 0;
};

} // namespace cleave::run
