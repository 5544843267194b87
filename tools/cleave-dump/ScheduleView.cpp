// --schedule: what the stages of a pipeline run at which time.
#include "compiler/schedule/pipelines/Draw.h"
#include "runtime/artifact/Programs.h"
#include "tools/cleave-dump/PlanText.h"
#include "tools/cleave-dump/Views.h"

#include <algorithm>

namespace cleave::dump {

namespace {

// The kind of a segment that is a part of a micro-batch; none for others, such as messages.
std::optional<pipelines::Kind> kindOf(const plan::Segment &segment) {
  if (segment.name() == "forward")
    return pipelines::Kind::Forward;
  if (segment.name() == "backward")
    return pipelines::Kind::Backward;
  return std::nullopt;
}

double secondsOf(const plan::Segment &segment) {
  double seconds = 0;
  for (const plan::Instruction &instruction : segment.instructions())
    seconds += instruction.seconds();
  return seconds;
}

// The programs of the stages in order.
std::vector<const plan::Program *> stagesOf(const plan::Plan &plan) {
  std::vector<const plan::Program *> stages;
  for (const plan::Program &program : plan.programs())
    if (program.kind() == plan::Program::STEP &&
        std::ranges::any_of(program.segments(), [](const plan::Segment &segment) {
          return kindOf(segment).has_value();
        }))
      stages.push_back(&program);
  return stages;
}

} // namespace

Result<std::string> scheduleView(const plan::Plan &plan) {
  const std::vector<const plan::Program *> stages = stagesOf(plan);
  if (stages.empty())
    return Status::userError("--schedule: the plan has no stages; cleave-compile --stages makes "
                             "them");
  const auto count = static_cast<uint32_t>(stages.size());
  uint32_t microBatches = 0;
  for (const plan::ScheduleStep &step : stages[0]->schedule())
    microBatches = std::max(microBatches, step.slot() + 1);
  pipelines::Order order =
      pipelines::emptyOrder(count, pipelines::loopPlacement(count, 1), microBatches);
  pipelines::Costs costs;
  for (uint32_t stage = 0; stage < count; ++stage) {
    pipelines::StageCosts &cost = costs.stages.emplace_back();
    for (const plan::ScheduleStep &step : stages[stage]->schedule()) {
      const plan::Segment &segment = stages[stage]->segments(static_cast<int>(step.segment()));
      const double seconds = secondsOf(segment);
      if (const std::optional<pipelines::Kind> kind = kindOf(segment)) {
        (*kind == pipelines::Kind::Forward ? cost.forward : cost.inputGradient) = seconds;
        order.tasks[stage].push_back(pipelines::Action{*kind, stage, step.slot()});
      } else if (segment.name().starts_with("send")) {
        costs.transfer = std::max(costs.transfer, seconds);
      }
    }
  }
  CLEAVE_TRY_ASSIGN(const pipelines::Evaluation evaluation,
                    evaluate(order, costs).withContext("--schedule"));
  return concat("Forward (F) and backward (B) parts of the micro-batches; update and sums of "
                "gradients are left out.\n",
                draw(order, evaluation));
}

} // namespace cleave::dump
