// GPipe (https://arxiv.org/abs/1811.06965) and looped breadth-first
// (https://arxiv.org/abs/2211.05953): all forwards, then all backwards.
#include "compiler/schedule/pipelines/Schedules.h"

namespace cleave::pipelines {

Result<Order> gpipe(const Shape &shape) {
  Order order = emptyOrder(shape.ranks, loopPlacement(shape.ranks, 1), shape.microBatches);
  for (uint32_t rank = 0; rank < shape.ranks; ++rank)
    for (Kind kind : {Kind::Forward, Kind::Backward})
      for (uint32_t m = 0; m < shape.microBatches; ++m)
        order.tasks[rank].push_back(Action{kind, rank, m});
  return order;
}

// Forwards from the first stage of a rank to the last; backwards from the last to the first, of the
// last micro-batch first.
Result<Order> loopedBreadthFirst(const Shape &shape) {
  const uint32_t perRank = shape.stagesPerRank, microBatches = shape.microBatches;
  Order order = emptyOrder(shape.ranks, loopPlacement(shape.ranks, perRank), microBatches);
  for (uint32_t rank = 0; rank < shape.ranks; ++rank) {
    for (uint32_t v = 0; v < perRank; ++v)
      for (uint32_t m = 0; m < microBatches; ++m)
        order.tasks[rank].push_back(Action{Kind::Forward, v * shape.ranks + rank, m});
    for (uint32_t v = perRank; v-- > 0;)
      for (uint32_t m = microBatches; m-- > 0;)
        order.tasks[rank].push_back(Action{Kind::Backward, v * shape.ranks + rank, m});
  }
  return order;
}

} // namespace cleave::pipelines
