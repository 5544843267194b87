// Evaluate: the seconds and the micro-batches in flight of an order, under given costs.
#pragma once

#include "compiler/schedule/Simulate.h"
#include "compiler/schedule/pipelines/OrderTimeline.h"
#include "runtime/base/Status.h"

namespace cleave::pipelines {

struct Evaluation {
  double makespan = 0; // seconds from 0 to the last end on any rank
  // The largest number of seconds from the first start to the last end of one rank. It counts
  // instead of the makespan where the next step begins on each rank without a barrier.
  double longestRank = 0;
  double bubbleFraction = 0; // 1 - the seconds of all tasks / (ranks · makespan)
  std::vector<std::vector<schedule::Interval>> times; // of the tasks, by rank and place in its list
  // The most micro-batches in flight at any moment: between the start of F and the end of the
  // backward (of W, where it is in two halves).
  std::vector<uint32_t> inFlight;       // by stage of the order
  std::vector<uint32_t> inFlightOfRank; // by rank: of all its stages together
};

// A user error if checkActions() refuses the order, the order cannot end, or the costs are not
// those of its stages: finite seconds of at least 0.
Result<Evaluation> evaluate(const Order &order, const Costs &costs);

} // namespace cleave::pipelines
