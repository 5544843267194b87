// OrderTimeline: an order with the seconds of its actions, as a timeline that
// compiler/schedule/Simulate.h runs.
#pragma once

#include "compiler/schedule/Timeline.h"
#include "compiler/schedule/pipelines/Order.h"

#include <optional>

namespace cleave::pipelines {

// Seconds of the actions of one stage for one micro-batch.
struct StageCosts {
  double forward = 0;
  double inputGradient = 0, weightGradient = 0; // a full backward takes the sum of both
  double recompute = 0;

  double backward() const { return inputGradient + weightGradient; }
};

struct Costs {
  std::vector<StageCosts> stages; // of one pipeline
  // Seconds of an overlapped forward and backward; without a value, the sum of both.
  std::optional<double> overlap;
  // Seconds between the end of an action and the start of its consumer on another rank. Transfers
  // occupy no rank and never queue.
  double transfer = 0;
};

double secondsOf(const Order &order, const Costs &costs, const Task &task);

// The timeline of an order that checkActions() accepts; `costs` has order.stages stages. Tasks are
// listed rank by rank, in the order of their rank, each with its text as name, on one compute
// resource per rank. A buffer of 1 byte per stage and micro-batch is live from the start of the
// forward to the end of the backward (of W, where it is in two halves), once in the space of the
// stage and once in the space of its rank: the live bytes of a space are micro-batches in flight.
// Spaces are the stages of the order, then the ranks.
schedule::Timeline timelineOf(const Order &order, const Costs &costs);

} // namespace cleave::pipelines
