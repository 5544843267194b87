// --schedule: what the stages of a pipeline run at which time.
#include "compiler/schedule/pipelines/Draw.h"
#include "tools/cleave-dump/PlanStages.h"
#include "tools/cleave-dump/Views.h"

namespace cleave::dump {

namespace {

constexpr size_t kColumns = 110;

// The seconds of a part of these costs.
double &secondsOf(pipelines::StageCosts &costs, pipelines::Kind kind) {
  switch (kind) {
  case pipelines::Kind::Forward:
    return costs.forward;
  case pipelines::Kind::Recompute:
    return costs.recompute;
  case pipelines::Kind::WeightGradient:
    return costs.weightGradient;
  case pipelines::Kind::Backward:
  case pipelines::Kind::InputGradient:
    return costs.inputGradient;
  }
  return costs.forward;
}

} // namespace

Result<std::string> scheduleView(const plan::Plan &plan) {
  const std::vector<const plan::Program *> stages = stagesOf(plan);
  if (stages.empty())
    return Status::userError("--schedule: the plan has no stages; cleave-compile --stages makes "
                             "them");
  const auto count = static_cast<uint32_t>(stages.size());
  const uint32_t microBatches = microBatchesOf(*stages[0]);
  const std::vector<uint32_t> placement = placementOf(stages);
  const std::vector<std::vector<uint32_t>> chunks = chunksOf(placement);
  pipelines::Order order = pipelines::emptyOrder(count, placement, microBatches);
  pipelines::Costs costs;
  costs.stages.resize(placement.size());
  for (uint32_t stage = 0; stage < count; ++stage) {
    const bool hasWeights = hasSegment(*stages[stage], "weights");
    for (const plan::ScheduleStep &step : stages[stage]->schedule()) {
      const plan::Segment &segment = stages[stage]->segments(static_cast<int>(step.segment()));
      const double seconds = secondsOf(segment);
      if (std::optional<MicroBatchPart> part = partOf(segment)) {
        if (hasWeights && part->kind == pipelines::Kind::Backward)
          part->kind = pipelines::Kind::InputGradient;
        const uint32_t chunk = chunks[stage][part->chunk];
        secondsOf(costs.stages[chunk], part->kind) = seconds;
        order.tasks[stage].push_back(pipelines::Action{part->kind, chunk, step.slot()});
      } else if (segment.name().starts_with("send")) {
        costs.transfer = std::max(costs.transfer, seconds);
      }
    }
  }
  CLEAVE_TRY_ASSIGN(const pipelines::Evaluation evaluation,
                    evaluate(order, costs).withContext("--schedule"));
  return concat(
      "Forward (F), recompute (R) and backward parts (B, or I and W) of the micro-batches; "
      "update and sums of gradients are left out.\n",
      draw(order, evaluation, kColumns, "stage"));
}

} // namespace cleave::dump
