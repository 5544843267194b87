#include "compiler/schedule/pipelines/OrderTimeline.h"

#include "runtime/base/Concat.h"

namespace cleave::pipelines {
namespace {

using schedule::kNone;

double secondsOf(const StageCosts &costs, Kind kind) {
  switch (kind) {
  case Kind::Forward:
    return costs.forward;
  case Kind::Backward:
    return costs.backward();
  case Kind::InputGradient:
    return costs.inputGradient;
  case Kind::WeightGradient:
    return costs.weightGradient;
  case Kind::Recompute:
    return costs.recompute;
  }
  return 0;
}

class TimelineOfOrder {
public:
  TimelineOfOrder(const Order &order, const Costs &costs) : order_(order), costs_(costs) {}

  schedule::Timeline make() {
    addPlaces();
    addTasks();
    addDependencies();
    return std::move(timeline_);
  }

private:
  uint32_t stages() const { return static_cast<uint32_t>(order_.rankOf.size()); }

  void addPlaces() {
    for (uint32_t stage = 0; stage < stages(); ++stage) {
      timeline_.units.push_back({concat("stage ", stage), {order_.rankOf[stage]}});
      timeline_.spaces.push_back({schedule::SpaceKind::Device, order_.rankOf[stage]});
    }
    for (uint32_t rank = 0; rank < order_.ranks(); ++rank) {
      timeline_.resources.push_back({schedule::ResourceKind::Compute, rank});
      timeline_.spaces.push_back({schedule::SpaceKind::Device, rank});
    }
    for (uint32_t stage = 0; stage < stages(); ++stage)
      for (uint32_t m = 0; m < order_.microBatches(); ++m) {
        timeline_.buffers.push_back({stage, 1});
        timeline_.buffers.push_back({stages() + order_.rankOf[stage], 1});
      }
  }

  void addTasks() {
    for (std::vector<uint32_t> *tasks : {&forward_, &gradient_, &recompute_})
      tasks->resize(order_.rankOf.size() * order_.microBatches(), kNone);
    for (uint32_t rank = 0; rank < order_.ranks(); ++rank)
      for (const Task &task : order_.tasks[rank]) {
        const auto index = static_cast<uint32_t>(timeline_.tasks.size());
        const Action &first = task.actions().front();
        timeline_.names.push_back(textOf(task));
        timeline_.tasks.push_back({index, first.stage, first.microBatch, rank, kNone,
                                   pipelines::secondsOf(order_, costs_, task)});
        for (const Action &action : task.actions())
          noteAction(action, index);
      }
  }

  void noteAction(const Action &action, uint32_t task) {
    const size_t at = order_.indexOf(action.stage, action.microBatch);
    if (action.kind == Kind::Forward)
      forward_[at] = task;
    else if (action.kind == Kind::Recompute)
      recompute_[at] = task;
    else if (action.kind != Kind::WeightGradient)
      gradient_[at] = task;
    for (size_t buffer : {2 * at, 2 * at + 1})
      timeline_.accesses.push_back(
          {task, static_cast<uint32_t>(buffer), action.kind == Kind::Forward});
  }

  void addDependencies() {
    uint32_t index = 0;
    for (const std::vector<Task> &tasks : order_.tasks)
      for (const Task &task : tasks) {
        for (const Action &action : task.actions())
          addInputs(action, index);
        ++index;
      }
  }

  void addInputs(const Action &action, uint32_t task) {
    const uint32_t stage = action.stage;
    const size_t at = order_.indexOf(stage, action.microBatch);
    switch (action.kind) {
    case Kind::Forward:
      if (!order_.isFirst(stage))
        add(forward_[order_.indexOf(stage - 1, action.microBatch)], task, stage - 1, stage);
      break;
    case Kind::Backward:
    case Kind::InputGradient:
      add(forward_[at], task, stage, stage);
      if (!order_.isLast(stage))
        add(gradient_[order_.indexOf(stage + 1, action.microBatch)], task, stage + 1, stage);
      if (recompute_[at] != kNone && recompute_[at] != task) // within one task it comes first
        add(recompute_[at], task, stage, stage);
      break;
    case Kind::WeightGradient:
      add(gradient_[at], task, stage, stage);
      break;
    case Kind::Recompute:
      add(forward_[at], task, stage, stage);
      break;
    }
  }

  void add(uint32_t before, uint32_t after, uint32_t producer, uint32_t consumer) {
    const bool isLocal = order_.rankOf[producer] == order_.rankOf[consumer];
    timeline_.dependencies.push_back({before, after, isLocal ? 0 : costs_.transfer});
  }

  const Order &order_;
  const Costs &costs_;
  schedule::Timeline timeline_;
  // By Order::indexOf, the task of F, of B or I, and of R; kNone: there is none.
  std::vector<uint32_t> forward_, gradient_, recompute_;
};

} // namespace

double secondsOf(const Order &order, const Costs &costs, const Task &task) {
  if (task.isOverlap() && costs.overlap)
    return *costs.overlap;
  double seconds = 0;
  for (const Action &action : task.actions())
    seconds += secondsOf(costs.stages[action.stage % order.stages], action.kind);
  return seconds;
}

schedule::Timeline timelineOf(const Order &order, const Costs &costs) {
  return TimelineOfOrder(order, costs).make();
}

} // namespace cleave::pipelines
