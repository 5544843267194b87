// --schedule: what the stages of a pipeline run at which time.
#include "compiler/schedule/pipelines/Draw.h"
#include "runtime/artifact/Programs.h"
#include "tools/cleave-dump/PlanText.h"
#include "tools/cleave-dump/Views.h"

#include <algorithm>
#include <charconv>

namespace cleave::dump {

namespace {

constexpr size_t kColumns = 110;

// The work of a segment that is a part of a micro-batch.
struct Part {
  pipelines::Kind kind = pipelines::Kind::Forward;
  uint32_t chunk = 0; // by its number in the stage
};

// None for other segments, such as messages.
std::optional<Part> partOf(const plan::Segment &segment) {
  static constexpr std::pair<std::string_view, pipelines::Kind> kNames[] = {
      {"forward", pipelines::Kind::Forward},
      {"recompute", pipelines::Kind::Recompute},
      {"backward", pipelines::Kind::Backward},
      {"weights", pipelines::Kind::WeightGradient}};
  const std::string_view text = segment.name();
  for (auto [name, kind] : kNames) {
    Part part{kind, 0};
    if (text == name)
      return part;
    if (text.starts_with(name) && text[name.size()] == ' ' &&
        std::from_chars(text.data() + name.size() + 1, text.data() + text.size(), part.chunk).ec ==
            std::errc())
      return part;
  }
  return std::nullopt;
}

bool hasSegment(const plan::Program &program, std::string_view name) {
  return std::ranges::any_of(program.segments(),
                             [&](const plan::Segment &segment) { return segment.name() == name; });
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
          return partOf(segment).has_value();
        }))
      stages.push_back(&program);
  return stages;
}

// The stage of each chunk of the model.
std::vector<uint32_t> placementOf(const std::vector<const plan::Program *> &stages) {
  uint32_t chunks = 1;
  for (const plan::Segment &segment : stages[0]->segments())
    if (const std::optional<Part> part = partOf(segment))
      chunks = std::max(chunks, part->chunk + 1);
  const auto count = static_cast<uint32_t>(stages.size());
  // There and back, the last stage passes its first chunk's values to its second one.
  return chunks == 2 && !hasSegment(*stages.back(), "send forward")
             ? pipelines::vPlacement(count)
             : pipelines::loopPlacement(count, chunks);
}

// By stage and number in it: the chunk.
std::vector<std::vector<uint32_t>> chunksOf(const std::vector<uint32_t> &placement) {
  std::vector<std::vector<uint32_t>> chunks(1 + *std::ranges::max_element(placement));
  for (uint32_t chunk = 0; chunk < placement.size(); ++chunk)
    chunks[placement[chunk]].push_back(chunk);
  return chunks;
}

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
  uint32_t microBatches = 0;
  for (const plan::ScheduleStep &step : stages[0]->schedule())
    microBatches = std::max(microBatches, step.slot() + 1);
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
      if (std::optional<Part> part = partOf(segment)) {
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
