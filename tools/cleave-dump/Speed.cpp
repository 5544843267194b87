#include "tools/cleave-dump/Speed.h"

#include "runtime/artifact/Utilization.h"
#include "runtime/base/Units.h"
#include "tools/cleave-dump/PlanText.h"

#include <algorithm>

namespace cleave::dump {

uint32_t microBatchesOf(const plan::Plan &plan) {
  uint32_t count = 1;
  for (const plan::Program &program : plan.programs())
    for (const plan::ScheduleStep &step : program.schedule())
      count = std::max(count, step.slot() + 1);
  return count;
}

int64_t samplesOf(const plan::Plan &plan) {
  int64_t samples = 0;
  for (const plan::Tensor &tensor : plan.tensors()) {
    if (tensor.role() != plan::INPUT || tensor.shape().empty() || !tensor.all_of().empty())
      continue;
    if (samples && samples != tensor.shape(0))
      return 0;
    samples = tensor.shape(0);
  }
  return samples;
}

int64_t tokensOf(const plan::Plan &plan) {
  for (const plan::Tensor &tensor : plan.tensors())
    if (tensor.role() == plan::INPUT && !tensor.is_label() && tensor.vocabulary() > 0 &&
        tensor.shape_size() == 2)
      return tensor.shape(0) * tensor.shape(1);
  return 0;
}

Speed speedOf(const plan::Plan &plan) {
  const plan::Prediction &predicted = plan.predicted();
  const double seconds =
      predicted.step_seconds() > 0 ? predicted.step_seconds() : predicted.planned_seconds();
  if (!(seconds > 0))
    return {};
  const double perSecond = static_cast<double>(microBatchesOf(plan)) / seconds;
  return {.samples = static_cast<double>(samplesOf(plan)) * perSecond,
          .tokens = static_cast<double>(tokensOf(plan)) * perSecond,
          .utilization = artifact::utilizationOf(plan, seconds)};
}

std::string speedText(const plan::Plan &plan) {
  const Speed speed = speedOf(plan);
  std::string text;
  auto add = [&](const std::string &part) {
    if (!part.empty())
      text += (text.empty() ? "" : ", ") + part;
  };
  if (speed.samples > 0)
    add(countText(speed.samples, "samples/s"));
  if (speed.tokens > 0)
    add(countText(speed.tokens, "tokens/s"));
  std::string utilization = artifact::utilizationText(speed.utilization);
  if (const std::string &type = plan.predicted().peak_type(); !utilization.empty() && !type.empty())
    utilization += " of the peak in " + type;
  add(utilization);
  return text;
}

} // namespace cleave::dump
