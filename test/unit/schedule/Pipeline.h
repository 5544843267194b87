// Pipeline: a step of a pipeline in the order 1F1B (one forward, one backward), with a replica of
// each stage per data-parallel rank.
#pragma once

#include "compiler/schedule/Timeline.h"

namespace cleave::schedule {

struct PipelineSizes {
  uint32_t stages = 32, replicas = 32, microBatches = 16;
};

// Rank = stage * replicas + replica. Forward takes 1 second, backward 2, a message 0.1, and the
// all-reduce of the gradients 3. Memory of 1 MiB holds what a micro-batch keeps for its backward.
Timeline pipeline(const PipelineSizes &sizes);

} // namespace cleave::schedule
