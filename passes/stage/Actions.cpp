// See Actions.h.
#include "passes/stage/Actions.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <tuple>

namespace cleave::stage {

using graph::Action;
using graph::ScheduledAction;

PipelineOrder oneForwardOneBackward(int64_t stages, int64_t microBatches) {
  PipelineOrder order(stages);
  for (int64_t stage = 0; stage < stages; ++stage) {
    const int64_t ahead = std::min(microBatches, stages - 1 - stage);
    for (int64_t i = 0; i < microBatches + ahead; ++i) {
      if (i < microBatches)
        order[stage].push_back({false, i});
      if (i >= ahead)
        order[stage].push_back({true, i - ahead});
    }
  }
  return order;
}

namespace {

class Simulation {
public:
  explicit Simulation(const PipelineOrder &order)
      : order_(order), stages_(static_cast<int64_t>(order.size())), next_(order.size()),
        free_(order.size()), timed_(order.size()) {}

  std::vector<std::vector<ScheduledAction>> run() {
    for (bool isMoving = true; isMoving;) {
      isMoving = false;
      for (int64_t stage = 0; stage < stages_; ++stage)
        while (advance(stage))
          isMoving = true;
    }
    std::vector<std::vector<ScheduledAction>> result(stages_);
    for (int64_t stage = 0; stage < stages_; ++stage) {
      assert(next_[stage] == order_[stage].size() && "the order has no cycle of waits");
      std::stable_sort(timed_[stage].begin(), timed_[stage].end(),
                       [](const Timed &a, const Timed &b) { return a.key() < b.key(); });
      for (const Timed &timed : timed_[stage])
        result[stage].push_back(timed.action);
    }
    return result;
  }

private:
  // An action at the time at which it begins. At equal times, messages go first, those of backward
  // parts before others, because they end a micro-batch.
  struct Timed {
    double seconds;
    bool isPart;
    int64_t sender;
    ScheduledAction action;
    std::tuple<double, bool, bool, int64_t, int64_t> key() const {
      const bool isBackward =
          action.action == Action::ReceiveBackward || action.action == Action::SendBackward;
      return {seconds, isPart, !isBackward, sender, action.microBatch};
    }
  };

  // Runs the next part of the stage, if what it reads has been sent.
  bool advance(int64_t stage) {
    if (next_[stage] == order_[stage].size())
      return false;
    const Work &work = order_[stage][next_[stage]];
    const int64_t sender = work.isBackward ? stage + 1 : stage - 1;
    double begin = free_[stage];
    if (sender >= 0 && sender < stages_) {
      auto sent = ends_.find({sender, work.isBackward, work.microBatch});
      if (sent == ends_.end())
        return false;
      begin = std::max(begin, sent->second);
      timed_[sender].push_back(
          {begin,
           false,
           sender,
           {work.isBackward ? Action::SendBackward : Action::SendForward, work.microBatch}});
      timed_[stage].push_back(
          {begin,
           false,
           sender,
           {work.isBackward ? Action::ReceiveBackward : Action::ReceiveForward, work.microBatch}});
    }
    timed_[stage].push_back(
        {begin,
         true,
         stage,
         {work.isBackward ? Action::Backward : Action::Forward, work.microBatch}});
    free_[stage] = begin + (work.isBackward ? 2 : 1);
    ends_[{stage, work.isBackward, work.microBatch}] = free_[stage];
    ++next_[stage];
    return true;
  }

  const PipelineOrder &order_;
  int64_t stages_;
  std::vector<size_t> next_; // by stage: the next part
  std::vector<double> free_; // by stage: when it ends its last part
  std::vector<std::vector<Timed>> timed_;
  std::map<std::tuple<int64_t, bool, int64_t>, double> ends_; // by stage and part
};

} // namespace

std::vector<std::vector<ScheduledAction>> withMessages(const PipelineOrder &order) {
  return Simulation(order).run();
}

} // namespace cleave::stage
