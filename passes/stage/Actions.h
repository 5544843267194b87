// Actions: what each stage of a pipeline does in which order, with the messages between stages.
#pragma once

#include "compiler/schedule/pipelines/Order.h"
#include "dialects/graph/Stage.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cleave::stage {

// The work of all stages of a pipeline. A stage of the order is a chunk, a rank of the order a
// stage.
struct Actions {
  std::vector<int64_t> placement;                         // by chunk of the model: its stage
  std::vector<std::vector<graph::ScheduledAction>> lists; // by stage
};

// The order of the schedule with this name (compiler/schedule/pipelines/Schedules.h) for `stages`
// stages of `chunks` chunks each. If that is 0, of two where the schedule is defined for several. A
// user error if the schedule is unknown or not defined for these numbers.
Result<pipelines::Order> orderOf(const std::string &schedule, int64_t stages, int64_t chunks,
                                 int64_t microBatches);

// The tasks of the order and the messages between stages. The actions of a task run one after the
// other. All stages pass messages in the order of one list, by the time at which sender and
// receiver can pass them if every part takes 1 second and a full backward part 2, so that no stage
// waits forever, even if a sender waits for its receiver. A user error if the order cannot end, has
// several pipelines, or recomputes some but not all micro-batches of a chunk.
Result<Actions> actionsOf(const pipelines::Order &order);

} // namespace cleave::stage
