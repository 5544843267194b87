// Actions: what each stage of a pipeline does in which order, with the messages between stages.
#pragma once

#include "dialects/graph/Messages.h"

#include <cstdint>
#include <vector>

namespace cleave::stage {

// The forward or backward part of a micro-batch.
struct Work {
  bool isBackward = false;
  int64_t microBatch = 0;
};

// By stage: its parts in the order in which it runs them. Each occurs once.
using PipelineOrder = std::vector<std::vector<Work>>;

// One forward, one backward: stage s begins with min(M, P - 1 - s) forward parts.
PipelineOrder oneForwardOneBackward(int64_t stages, int64_t microBatches);

// By stage: the order with messages. All stages pass messages in the order of one list, by the time
// at which sender and receiver can pass them if a forward part takes 1 and a backward part 2
// seconds, so that no stage waits forever, even if a sender waits for its receiver. Requires an
// order without a cycle of waits.
std::vector<std::vector<graph::ScheduledAction>> withMessages(const PipelineOrder &order);

} // namespace cleave::stage
