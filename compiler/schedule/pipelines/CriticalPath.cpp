// Merak's shifted critical path (https://github.com/HPDL-Group/Merak, core/pipeline/schedule.py):
// 1F1B that recomputes forwards, and moves recomputes of the critical path to where their rank is
// idle. A recompute that is a separate task waits for no gradient; one in a task with its backward
// does.
#include "compiler/schedule/pipelines/Schedules.h"

#include <algorithm>
#include <functional>

namespace cleave::pipelines {
namespace {

enum class Recompute { Never, Early, WithBackward };

// How rank `rank` recomputes micro-batch `m`.
using RecomputeRule = std::function<Recompute(uint32_t rank, uint32_t m)>;

// Whether a backward is one of the last of its rank, after all forwards.
bool isDrain(const Shape &shape, uint32_t rank, uint32_t m) {
  return m + (shape.ranks - 1 - rank) >= shape.microBatches;
}

Recompute lastNoRecomputeRule(const Shape &shape, uint32_t rank, uint32_t m) {
  if (rank + 1 == shape.ranks)
    return Recompute::Never;
  if (rank + 2 == shape.ranks)
    return m == 0 ? Recompute::Early : Recompute::WithBackward;
  return isDrain(shape, rank, m) ? Recompute::Early : Recompute::WithBackward;
}

Recompute criticalPathRule(const Shape &shape, uint32_t rank, uint32_t m) {
  if ((rank + 2 == shape.ranks && m == 1) || (rank + 3 == shape.ranks && m == 0))
    return Recompute::Early;
  return lastNoRecomputeRule(shape, rank, m);
}

// Replaces the full backwards of an order.
void addRecomputes(Order &order, const RecomputeRule &rule) {
  for (uint32_t rank = 0; rank < order.ranks(); ++rank) {
    std::vector<Task> tasks;
    for (const Task &task : order.tasks[rank]) {
      const Action action = task.actions().front();
      const Action recomputation{Kind::Recompute, action.stage, action.microBatch};
      const Recompute recompute =
          action.kind == Kind::Backward ? rule(rank, action.microBatch) : Recompute::Never;
      if (recompute == Recompute::Early)
        tasks.push_back(recomputation);
      tasks.push_back(recompute == Recompute::WithBackward ? Task(recomputation, action) : task);
    }
    order.tasks[rank] = std::move(tasks);
  }
}

Result<Order> withRecomputes(const Shape &shape, const RecomputeRule &rule) {
  CLEAVE_TRY_ASSIGN(Order order, oneForwardOneBackward(shape));
  addRecomputes(order, rule);
  return order;
}

} // namespace

Result<Order> allRecompute(const Shape &shape) {
  return withRecomputes(shape, [](uint32_t, uint32_t) { return Recompute::WithBackward; });
}

Result<Order> preRecompute(const Shape &shape) {
  return withRecomputes(shape, [&](uint32_t rank, uint32_t m) {
    return isDrain(shape, rank, m) ? Recompute::Early : Recompute::WithBackward;
  });
}

Result<Order> lastNoRecompute(const Shape &shape) {
  return withRecomputes(
      shape, [&](uint32_t rank, uint32_t m) { return lastNoRecomputeRule(shape, rank, m); });
}

Result<Order> criticalPath(const Shape &shape) {
  if (shape.ranks < 2 || shape.microBatches < std::max(4u, shape.ranks))
    return Status::userError("found ", shape.ranks, " ranks and ", shape.microBatches,
                             " micro-batches; expected at least 2 ranks, 4 micro-batches, and one ",
                             "micro-batch per rank");
  CLEAVE_TRY_ASSIGN(Order order, oneForwardOneBackward(shape));
  // F0 F1 D0 F2 becomes F0 F1 F2 D0.
  std::vector<Task> &tasks = order.tasks[shape.ranks - 2];
  std::swap(tasks[2], tasks[3]);
  addRecomputes(order, [&](uint32_t rank, uint32_t m) { return criticalPathRule(shape, rank, m); });
  return order;
}

} // namespace cleave::pipelines
