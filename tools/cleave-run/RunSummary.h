// What a training run amounts to: steps, epochs, speed, and losses; a line for people and one for
// the log.
#pragma once

#include "runtime/executor/Executor.h"
#include "tools/cleave-run/RunData.h"
#include "tools/cleave-run/Speed.h"

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace cleave::run {

class RunSummary {
public:
  // Begins with step `first`. Plan and data outlive the summary.
  RunSummary(int64_t first, const plan::Plan &plan, const RunData &data)
      : first_(first), flops_(plan.predicted().flops()),
        predictedSeconds_(plan.predicted().step_seconds()), data_(data), speed_(plan, data) {}

  // Call after every step. The speed leaves out the first step, which includes page faults and
  // cold caches, unless it is the only one.
  void step(int64_t step, double seconds, const std::vector<executor::MetricValue> &metrics);

  // `12 steps in 3.40 s, 280 ms per step (predicted 250 ms), epochs 0 to 2.4, 96 samples, 28.2
  // samples/s, MFU 3.1 %, 1.20 GFLOP/s per rank; loss 1.23, least 1.21 in step 8`; empty without
  // steps. Steps have the numbers of the log, from 0.
  std::string text() const;
  // {"summary": {"steps", "seconds", "epochs", "samples", "step_seconds",
  // "predicted_step_seconds", "samples_per_second", "mfu", "loss", …}}; empty without
  // steps. `savedIn`: the folder of the last checkpoint, empty if there is none.
  std::string line(const std::string &savedIn) const;

private:
  // The seconds of a step, in the mean.
  double secondsPerStep() const;

  int64_t first_;
  double flops_;            // of one step on one rank, as the plan has them
  double predictedSeconds_; // of a step; 0: not known
  const RunData &data_;
  Speed speed_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now(), end_ = begin_;
  int64_t steps_ = 0;
  double firstSeconds_ = 0, seconds_ = 0; // of the first step, and of all steps
  bool hasLoss_ = false;
  double loss_ = 0, least_ = std::numeric_limits<double>::infinity();
  int64_t leastStep_ = 0;
};

} // namespace cleave::run
