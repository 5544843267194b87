// RankWriter: writes the list of one rank by a rule that says which stage comes next; each kind
// counts the micro-batches of each stage in ascending order.
#pragma once

#include "compiler/schedule/pipelines/Order.h"

#include <algorithm>
#include <deque>
#include <map>

namespace cleave::pipelines {

class RankWriter {
public:
  // The micro-batches of a pipeline are consecutive.
  RankWriter(Order &order, uint32_t rank) : tasks_(order.tasks[rank]) {
    for (uint32_t stage = 0; stage < order.rankOf.size(); ++stage)
      if (order.rankOf[stage] == rank) {
        const auto first =
            std::find(order.pipelineOf.begin(), order.pipelineOf.end(), stage / order.stages);
        const auto microBatch = static_cast<uint32_t>(first - order.pipelineOf.begin());
        next_[stage] = {microBatch, microBatch};
      }
  }

  // The micro-batch of the next forward of a stage.
  uint32_t nextForwardOf(uint32_t stage) const { return next_.at(stage).forward; }

  void forward(uint32_t stage) { tasks_.push_back(nextForward(stage)); }
  void backward(uint32_t stage) { tasks_.push_back(nextGradient(Kind::Backward, stage)); }
  void inputGradient(uint32_t stage) {
    waiting_.push_back(nextGradient(Kind::InputGradient, stage));
    tasks_.push_back(waiting_.back());
    waiting_.back().kind = Kind::WeightGradient;
  }
  // A forward and a full backward as one task.
  void overlap(uint32_t forwardStage, uint32_t backwardStage) {
    const Action forward = nextForward(forwardStage);
    tasks_.push_back({forward, nextGradient(Kind::Backward, backwardStage)});
  }

  // Weight gradients whose input gradient is written, and they are not.
  size_t waiting() const { return waiting_.size(); }
  // The weight gradient that has waited longest.
  void weightGradient() {
    tasks_.push_back(waiting_.front());
    waiting_.pop_front();
  }
  // The weight gradient of a stage that has waited longest; false if none waits.
  bool weightGradient(uint32_t stage) {
    const auto oldest = std::find_if(waiting_.begin(), waiting_.end(),
                                     [&](const Action &action) { return action.stage == stage; });
    if (oldest == waiting_.end())
      return false;
    tasks_.push_back(*oldest);
    waiting_.erase(oldest);
    return true;
  }

private:
  struct Next {
    uint32_t forward = 0, gradient = 0; // micro-batches
  };
  Action nextForward(uint32_t stage) { return {Kind::Forward, stage, next_[stage].forward++}; }
  Action nextGradient(Kind kind, uint32_t stage) { return {kind, stage, next_[stage].gradient++}; }

  std::vector<Task> &tasks_;
  std::map<uint32_t, Next> next_; // by stage of the rank
  std::deque<Action> waiting_;    // weight gradients, in the order of their input gradients
};

} // namespace cleave::pipelines
