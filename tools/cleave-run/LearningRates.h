// The learning rates of a run: those of the plan or of --lr, as --lr-schedule changes them.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"
#include "runtime/executor/Executor.h"
#include "runtime/hyperparameters/LrSchedule.h"
#include "tools/cleave-run/Options.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cleave::run {

class LearningRates {
public:
  // User errors: a rate or a schedule that cannot be read, or that the plan has no use for.
  static Result<LearningRates> read(const plan::Plan &plan, const Options &options);

  // To be called before the first step. A user error if the schedule counts epochs and there are
  // none.
  Status setLength(const hyperparameters::RunLength &length);
  // Sets the rates of the step that is started next.
  Status apply(int64_t step, executor::Executor &executor);

  // The rates of a step: `lr`, and `lr/GROUP` of each group with its own.
  std::vector<executor::MetricValue> at(int64_t step) const;
  // Whether the rates change during the run.
  bool hasSchedule() const { return hasSchedule_; }

  // The plan's optimizer with the rates of --lr, and the schedule with all its options, for the
  // comparison with those of a checkpoint.
  const std::string &optimizer() const { return optimizer_; }
  std::string schedule() const { return schedule_.text(length_); }

private:
  Status setBase(const std::string &option);
  double rateOf(const executor::Hyperparameter &base, int64_t step) const {
    return schedule_.at(step, length_, base.value, bases_[0].value);
  }

  std::vector<executor::Hyperparameter> bases_; // of the optimizer and of groups
  std::string optimizer_;
  hyperparameters::LrSchedule schedule_;
  bool hasSchedule_ = false;
  hyperparameters::RunLength length_;
  std::vector<double> current_; // the rates that the executor has, by base
};

} // namespace cleave::run
