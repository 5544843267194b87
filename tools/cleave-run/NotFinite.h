// What happens after a step whose loss or gradient norm is infinite or not a number (--on-nan). A
// program with the metric `loss_scale` has left out such a step itself, and the run goes on.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/executor/Executor.h"
#include "tools/cleave-run/Options.h"

#include <string>

namespace cleave::run {

// Metrics are equal on all ranks, and so are the decisions of this class.
class NotFinite {
public:
  explicit NotFinite(OnNan reaction) : reaction_(reaction) {}

  // Examines the metrics of this step, which the executor has just run; undoes it if it is to be
  // skipped. Status::lost (of the device) if that fails.
  Status examine(int64_t step, executor::Executor &executor);

  // A user error if the run ends after this step; `lastGood` is the checkpoint to resume from,
  // empty if there is none.
  Status verdict(const std::string &lastGood) const;
  // Of the first such step, a warning that says how the run goes on; empty otherwise.
  std::string warning() const;
  // The number of steps without an update of `steps`; empty if there is nothing new to say.
  std::string summary(int64_t steps) const;

  // Whether the update of this step was undone. Of a program that scales its loss it is not, which
  // would undo the new scale.
  bool isSkipped() const { return !found_.empty() && reaction_ == OnNan::Skip && !scalesLoss_; }
  // Whether what the step left may be saved as finite.
  bool isFinite() const { return found_.empty() || isSkipped() || scalesLoss_; }

private:
  OnNan reaction_;
  std::string found_; // `loss is nan in step 7`; empty: all metrics are finite
  // The loss is not a number, but its gradients are finite: a mean over no labels.
  bool isWithoutLabels_ = false;
  bool scalesLoss_ = false; // the program has the metric `loss_scale`
  int64_t count_ = 0;       // of such steps
};

} // namespace cleave::run
