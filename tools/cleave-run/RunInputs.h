// RunInputs: what a rank reads before its first step: the initial checkpoint or weights, the data
// of the training and of its evaluation, the learning rates, and the range of steps.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/checkpoint/Checkpoint.h"
#include "tools/cleave-run/Evaluator.h"
#include "tools/cleave-run/LearningRates.h"
#include "tools/cleave-run/RunData.h"
#include "tools/cleave-run/Session.h"
#include "tools/cleave-run/Weights.h"

#include <memory>

namespace cleave::run {

// The key of RunInputs::origin in the Progress.extra of checkpoints.
inline constexpr const char *kOriginKey = "run_began";

struct RunInputs {
  std::unique_ptr<checkpoint::Checkpoint> checkpoint; // of --resume; null without
  checkpoint::Weights weights;                        // empty without --weights
  RunData data;
  Evaluator evaluator;
  LearningRates rates;
  int64_t first = 0, count = 0; // steps of this run
  int64_t origin = 0;           // first step of the run, before any restart

  // Opens all of them, and prints notes and warnings. User errors name the option.
  Status open(const plan::Plan &plan, const Options &options, const Session &session);
  // The facts of the run that all ranks must share, or the failure of open(), `opened`.
  Intent intentAfter(const Status &opened, const plan::Plan &plan, const Options &options) const;
  // The values that the run begins with; null without --resume and --weights.
  const checkpoint::TensorStore *values() const;

private:
  int64_t originOfRun(const Options &options) const;
};

} // namespace cleave::run
