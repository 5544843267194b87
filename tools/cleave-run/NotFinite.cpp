// See NotFinite.h.
#include "tools/cleave-run/NotFinite.h"

#include <cmath>

namespace cleave::run {

// A metric of programs that scale the loss of float16 values. They leave out steps that overflow.
static constexpr const char *kLossScale = "loss_scale";
static constexpr const char *kLoss = "loss", *kNorm = "grad_norm";

Status NotFinite::examine(int64_t step, executor::Executor &executor) {
  found_.clear();
  bool isLossNan = false, isNormFinite = false;
  for (const executor::MetricValue &metric : executor.metrics()) {
    scalesLoss_ |= metric.name == kLossScale;
    isLossNan |= metric.name == kLoss && std::isnan(metric.value);
    isNormFinite |= metric.name == kNorm && std::isfinite(metric.value);
    if (!std::isfinite(metric.value) && found_.empty())
      found_ = concat(metric.name, " is ",
                      std::isnan(metric.value) ? "nan"
                      : metric.value > 0       ? "infinite"
                                               : "negative infinite",
                      " in step ", step);
  }
  if (found_.empty())
    return Status::ok();
  isWithoutLabels_ = isLossNan && isNormFinite;
  if (isWithoutLabels_)
    found_ += ", but its gradients are finite: no label of the step counts, all are ignored";
  ++count_;
  return isSkipped() ? executor.undoStep() : Status::ok();
}

Status NotFinite::verdict(const std::string &lastGood) const {
  if (found_.empty() || reaction_ != OnNan::Stop || scalesLoss_)
    return Status::ok();
  const std::string wayOut =
      concat(isWithoutLabels_ ? " with labels that count"
                              : ", for example with a smaller learning rate (--lr)",
             "; --on-nan skip or continue does not end the run");
  return lastGood.empty()
             ? Status::userError(
                   found_, "; no checkpoint was saved (see --save-every); start again", wayOut)
             : Status::userError(found_, "; nothing was saved after it; resume from '", lastGood,
                                 "'", wayOut);
}

std::string NotFinite::warning() const {
  if (found_.empty() || count_ > 1 || (reaction_ == OnNan::Stop && !scalesLoss_))
    return "";
  return concat(found_, isSkipped()   ? "; its update is undone (--on-nan skip)"
                        : scalesLoss_ ? "; the program leaves the step out and lowers loss_scale"
                                      : "; the run goes on (--on-nan continue)");
}

std::string NotFinite::summary(int64_t steps) const {
  if (count_ < 2 || (reaction_ != OnNan::Skip && !scalesLoss_))
    return "";
  return concat("the updates of ", count_, " of ", steps, " steps were ",
                scalesLoss_ ? "left out" : "undone");
}

} // namespace cleave::run
