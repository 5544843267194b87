// See Actions.h.
#include "passes/stage/Actions.h"

#include "compiler/schedule/pipelines/Evaluate.h"
#include "compiler/schedule/pipelines/Schedules.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace cleave::stage {

using graph::Action;
using graph::ScheduledAction;

namespace {

// An action at the time at which it begins. At equal times, messages go first, those of backward
// parts before others, because they end a micro-batch.
struct Timed {
  double seconds;
  bool isPart;
  bool isForward;
  int64_t sender;
  ScheduledAction action;
  auto key() const -> std::tuple<double, bool, bool, int64_t, int64_t> {
    return {seconds, isPart, isForward, sender, action.microBatch};
  }
};

// A part: stage, whether it is a backward part, micro-batch.
using Part = std::tuple<int64_t, bool, int64_t>;

} // namespace

Result<std::vector<std::vector<ScheduledAction>>> withMessages(const pipelines::Order &order) {
  pipelines::Costs costs;
  costs.stages.assign(order.stages, {.forward = 1, .inputGradient = 2});
  CLEAVE_TRY_ASSIGN(const pipelines::Evaluation evaluation, evaluate(order, costs));
  std::map<Part, double> ends;
  auto partOf = [&](size_t rank, size_t i) {
    const pipelines::Action &action = order.tasks[rank][i].actions().front();
    return Part(action.stage, action.kind != pipelines::Kind::Forward, action.microBatch);
  };
  for (size_t rank = 0; rank < order.tasks.size(); ++rank)
    for (size_t i = 0; i < order.tasks[rank].size(); ++i)
      ends[partOf(rank, i)] = evaluation.times[rank][i].end;
  std::vector<std::vector<Timed>> timed(order.tasks.size());
  for (size_t rank = 0; rank < order.tasks.size(); ++rank)
    for (size_t i = 0; i < order.tasks[rank].size(); ++i) {
      const auto [stage, isBackward, microBatch] = partOf(rank, i);
      const int64_t sender = isBackward ? stage + 1 : stage - 1;
      timed[rank].push_back({evaluation.times[rank][i].begin,
                             true,
                             !isBackward,
                             stage,
                             {isBackward ? Action::Backward : Action::Forward, microBatch}});
      auto sent = ends.find({sender, isBackward, microBatch});
      if (sent == ends.end())
        continue;
      const double free = i == 0 ? 0 : evaluation.times[rank][i - 1].end;
      const double passed = std::max(sent->second, free);
      timed[rank].push_back(
          {passed,
           false,
           !isBackward,
           sender,
           {isBackward ? Action::ReceiveBackward : Action::ReceiveForward, microBatch}});
      timed[size_t(sender)].push_back(
          {passed,
           false,
           !isBackward,
           sender,
           {isBackward ? Action::SendBackward : Action::SendForward, microBatch}});
    }
  std::vector<std::vector<ScheduledAction>> result(timed.size());
  for (size_t rank = 0; rank < timed.size(); ++rank) {
    std::ranges::stable_sort(timed[rank], {}, &Timed::key);
    for (const Timed &each : timed[rank])
      result[rank].push_back(each.action);
  }
  return result;
}

Result<std::vector<std::vector<ScheduledAction>>> actionsOf(const std::string &schedule,
                                                            int64_t stages, int64_t microBatches) {
  CLEAVE_TRY_ASSIGN(const pipelines::Order order,
                    pipelines::orderOf(schedule, {.ranks = uint32_t(stages),
                                                  .microBatches = uint32_t(microBatches)}));
  for (const std::vector<pipelines::Task> &tasks : order.tasks)
    for (const pipelines::Task &task : tasks) {
      const pipelines::Kind kind = task.actions().front().kind;
      if (order.rankOf.size() != order.tasks.size() || task.actions().size() != 1 ||
          (kind != pipelines::Kind::Forward && kind != pipelines::Kind::Backward))
        return Status::userError("'", schedule,
                                 "' needs several stages per rank, or parts other than forward "
                                 "and backward, which programs do not have yet; expected 1f1b or "
                                 "gpipe");
    }
  return withMessages(order);
}

} // namespace cleave::stage
