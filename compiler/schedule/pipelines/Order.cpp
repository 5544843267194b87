#include "compiler/schedule/pipelines/Order.h"

#include "runtime/base/Concat.h"

#include <utility>

namespace cleave::pipelines {

char letterOf(Kind kind) { return "FBIWR"[static_cast<uint8_t>(kind)]; }

bool Task::isOverlap() const {
  return size_ == 2 && pair_[0].kind == Kind::Forward && pair_[1].kind == Kind::Backward;
}

Order emptyOrder(uint32_t ranks, std::vector<uint32_t> rankOf, uint32_t microBatches) {
  Order order;
  order.stages = static_cast<uint32_t>(rankOf.size());
  order.rankOf = std::move(rankOf);
  order.pipelineOf.resize(microBatches, 0);
  order.tasks.resize(ranks);
  return order;
}

std::vector<uint32_t> loopPlacement(uint32_t ranks, uint32_t perRank) {
  std::vector<uint32_t> rankOf;
  for (uint32_t stage = 0; stage < ranks * perRank; ++stage)
    rankOf.push_back(stage % ranks);
  return rankOf;
}

std::vector<uint32_t> vPlacement(uint32_t ranks) {
  std::vector<uint32_t> rankOf;
  for (uint32_t stage = 0; stage < 2 * ranks; ++stage)
    rankOf.push_back(stage < ranks ? stage : 2 * ranks - 1 - stage);
  return rankOf;
}

std::string textOf(const Action &action) {
  return concat(action.stage, letterOf(action.kind), action.microBatch);
}

std::string textOf(const Task &task) {
  const std::span<const Action> actions = task.actions();
  if (actions.size() == 1)
    return textOf(actions[0]);
  const Action &first = actions[0], &second = actions[1];
  if (first.kind == Kind::Recompute)
    return concat(second.stage, 'C', second.microBatch);
  return concat('(', textOf(first), ';', textOf(second), ')',
                task.isOverlap() ? "OVERLAP_F_B" : "PAIR_F");
}

std::string textOf(const Order &order) {
  std::string text;
  for (uint32_t rank = 0; rank < order.ranks(); ++rank) {
    if (rank > 0)
      text += '\n';
    for (size_t i = 0; i < order.tasks[rank].size(); ++i)
      text += (i > 0 ? "," : "") + textOf(order.tasks[rank][i]);
  }
  return text;
}

} // namespace cleave::pipelines
