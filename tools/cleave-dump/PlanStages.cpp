#include "tools/cleave-dump/PlanStages.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace cleave::dump {

std::optional<MicroBatchPart> partOf(const plan::Segment &segment) {
  static constexpr std::pair<std::string_view, pipelines::Kind> kNames[] = {
      {"forward", pipelines::Kind::Forward},
      {"recompute", pipelines::Kind::Recompute},
      {"backward", pipelines::Kind::Backward},
      {"weights", pipelines::Kind::WeightGradient}};
  const std::string_view text = segment.name();
  for (auto [name, kind] : kNames) {
    MicroBatchPart part{kind, 0};
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

std::vector<uint32_t> placementOf(const std::vector<const plan::Program *> &stages) {
  uint32_t chunks = 1;
  for (const plan::Segment &segment : stages[0]->segments())
    if (const std::optional<MicroBatchPart> part = partOf(segment))
      chunks = std::max(chunks, part->chunk + 1);
  const auto count = static_cast<uint32_t>(stages.size());
  // There and back, the last stage passes its first chunk's values to its second one.
  return chunks == 2 && !hasSegment(*stages.back(), "send forward")
             ? pipelines::vPlacement(count)
             : pipelines::loopPlacement(count, chunks);
}

std::vector<std::vector<uint32_t>> chunksOf(const std::vector<uint32_t> &placement) {
  std::vector<std::vector<uint32_t>> chunks(1 + *std::ranges::max_element(placement));
  for (uint32_t chunk = 0; chunk < placement.size(); ++chunk)
    chunks[placement[chunk]].push_back(chunk);
  return chunks;
}

uint32_t microBatchesOf(const plan::Program &stage) {
  uint32_t count = 0;
  for (const plan::ScheduleStep &step : stage.schedule())
    count = std::max(count, step.slot() + 1);
  return count;
}

} // namespace cleave::dump
