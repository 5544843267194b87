// Actions: what each stage of a pipeline does in which order, with the messages between stages.
#pragma once

#include "compiler/schedule/pipelines/Order.h"
#include "dialects/graph/Messages.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cleave::stage {

// By stage: the forward and backward parts of the schedule with this name
// (compiler/schedule/pipelines/Schedules.h), and messages. A user error if the schedule is unknown,
// or needs what programs do not have yet: several stages per rank, or backward parts in two halves.
Result<std::vector<std::vector<graph::ScheduledAction>>>
actionsOf(const std::string &schedule, int64_t stages, int64_t microBatches);

// The same of an order with one stage per rank, whose tasks are forward and full backward parts.
// All stages pass messages in the order of one list, by the time at which sender and receiver can
// pass them if a forward part takes 1 and a backward part 2 seconds, so that no stage waits
// forever, even if a sender waits for its receiver. A user error if the order cannot end.
Result<std::vector<std::vector<graph::ScheduledAction>>>
withMessages(const pipelines::Order &order);

} // namespace cleave::stage
