// See RunSummary.h.
#include "tools/cleave-run/RunSummary.h"

#include "runtime/base/Units.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace cleave::run {

using Json = nlohmann::ordered_json;

void RunSummary::step(int64_t step, double seconds,
                      const std::vector<executor::MetricValue> &metrics) {
  if (++steps_ == 1)
    firstSeconds_ = seconds;
  seconds_ += seconds;
  end_ = std::chrono::steady_clock::now();
  for (const executor::MetricValue &metric : metrics) {
    if (metric.name != "loss")
      continue;
    hasLoss_ = true;
    loss_ = metric.value;
    if (loss_ < least_)
      least_ = loss_, leastStep_ = step;
  }
}

double RunSummary::secondsPerStep() const {
  double seconds = steps_ > 1 ? (seconds_ - firstSeconds_) / double(steps_ - 1) : seconds_;
  return std::max(seconds, 1e-9);
}

static std::string digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.5g", value);
  return text;
}

std::string RunSummary::text() const {
  if (steps_ == 0)
    return "";
  double wall = std::chrono::duration<double>(end_ - begin_).count();
  std::string text = concat(steps_, steps_ == 1 ? " step in " : " steps in ", secondsText(wall),
                            ", ", secondsText(secondsPerStep()), " per step");
  if (predictedSeconds_ > 0)
    text += concat(" (predicted ", secondsText(predictedSeconds_), ")");
  if (data_.samplesPerStep() > 0) {
    if (data_.hasEpochs())
      text += concat(", epochs ", digits(data_.epochsAt(first_)), " to ",
                     digits(data_.epochsAt(first_ + steps_)));
    text += concat(", ", data_.samplesIn(first_, steps_), " samples");
  }
  for (const std::string &speed : speed_.texts(secondsPerStep()))
    text += ", " + speed;
  if (flops_ > 0)
    text += ", " + countText(flops_ / secondsPerStep(), "FLOP/s") + " per rank";
  if (hasLoss_)
    text += concat("; loss ", digits(loss_), ", least ", digits(least_), " in step ", leastStep_);
  return text;
}

std::string RunSummary::line(const std::string &savedIn) const {
  if (steps_ == 0)
    return "";
  Json summary{{"steps", steps_},
               {"seconds", std::chrono::duration<double>(end_ - begin_).count()}};
  if (data_.samplesPerStep() > 0) {
    if (data_.hasEpochs())
      summary["epochs"] = data_.epochsAt(first_ + steps_);
    summary["samples"] = data_.samplesIn(first_, steps_);
  }
  summary["step_seconds"] = secondsPerStep();
  if (predictedSeconds_ > 0)
    summary["predicted_step_seconds"] = predictedSeconds_;
  for (const auto &[name, number] : speed_.numbers(secondsPerStep()))
    summary[name] = number;
  if (flops_ > 0)
    summary["flops_per_second"] = flops_ / secondsPerStep();
  if (hasLoss_) {
    summary["loss"] = loss_; // null if it is not finite
    summary["least_loss"] = least_;
    summary["least_loss_step"] = leastStep_;
  }
  if (!savedIn.empty())
    summary["checkpoint"] = savedIn;
  return Json{{"summary", summary}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace cleave::run
