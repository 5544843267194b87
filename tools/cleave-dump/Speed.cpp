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

double overlappedSeconds(const plan::Prediction &p) {
  const double hidden = p.compute_seconds() + p.communication_seconds() - p.step_seconds();
  return hidden > 0.001 * p.step_seconds() ? hidden : 0;
}

static bool copiesBetweenSpaces(const plan::Plan &plan) {
  return std::ranges::any_of(plan.programs(), [](const plan::Program &program) {
    return std::ranges::any_of(
        program.arenas(), [](const plan::Arena &arena) { return arena.space() != plan::DEVICE; });
  });
}

std::string boundText(const plan::Plan &plan) {
  const plan::Prediction &p = plan.predicted();
  // The planner's model overlaps nothing but copies between spaces and launches every kernel of a
  // GPU alone. Its estimate can therefore exceed the seconds of the step.
  const bool shares = plan.device() == "cuda" && p.planned_seconds() > 1.001 * p.step_seconds();
  const char *without = copiesBetweenSpaces(plan)  ? ", with no overlap but of copies"
                        : overlappedSeconds(p) > 0 ? ", without overlap"
                        : shares                   ? ", without shared launches"
                                                   : "";
  // The bound of a pipeline is the one of its slowest stage.
  const bool hasStages = stageCount(plan) > 1;
  return concat(hasStages ? "the slowest stage takes " : "", secondsText(p.planned_seconds()),
                " by the planner's model", without, "; no plan",
                hasStages ? " with these stages" : "", " takes less than ",
                secondsText(p.bound_seconds()));
}

} // namespace cleave::dump
