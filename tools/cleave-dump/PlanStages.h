// PlanStages: the stages of a pipeline as a plan's programs show them, and the parts of a
// micro-batch that they run.
#pragma once

#include "compiler/schedule/pipelines/Order.h"
#include "runtime/artifact/program.pb.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace cleave::dump {

// The work of a segment that is a part of a micro-batch.
struct MicroBatchPart {
  pipelines::Kind kind = pipelines::Kind::Forward;
  uint32_t chunk = 0; // by its number in the stage
};
// None for other segments, such as messages.
std::optional<MicroBatchPart> partOf(const plan::Segment &segment);

// The steps of the stages in order; empty for a plan without stages.
std::vector<const plan::Program *> stagesOf(const plan::Plan &plan);

// The stage of each chunk of the model. There is at least one stage.
std::vector<uint32_t> placementOf(const std::vector<const plan::Program *> &stages);
// By stage and number in it: the chunk.
std::vector<std::vector<uint32_t>> chunksOf(const std::vector<uint32_t> &placement);

bool hasSegment(const plan::Program &program, std::string_view name);
// The predicted seconds of its instructions.
double secondsOf(const plan::Segment &segment);
// The micro-batches of a step of the stage.
uint32_t microBatchesOf(const plan::Program &stage);

} // namespace cleave::dump
