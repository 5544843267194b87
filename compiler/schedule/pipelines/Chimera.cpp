// Chimera (https://arxiv.org/abs/2107.06925): f pipelines in each direction, so that the actions of
// one fill the bubbles of the others. Each pipeline has a copy of the weights. The slots here are a
// construction with the properties of the paper.
#include "compiler/schedule/pipelines/Schedules.h"

#include <algorithm>
#include <utility>

namespace cleave::pipelines {
namespace {

// The actions of a unit of micro-batches have slots, and a rank runs its actions in the order of
// slots; no two of a rank share one. The slot of the k-th forward of a pipeline on stage s is
// s + 2k; those of its backwards are `backward[i]` - s + 2k. The next unit is `length` later.
struct Slots {
  std::vector<uint32_t> backward; // one per micro-batch of a forward
  uint32_t length;
};

// One pipeline after the other down the ranks, then those up.
std::vector<uint32_t> chimeraPlacement(uint32_t ranks, uint32_t perDirection) {
  std::vector<uint32_t> rankOf;
  for (bool isDown : {true, false})
    for (uint32_t i = 0; i < perDirection; ++i)
      for (uint32_t stage = 0; stage < ranks; ++stage)
        rankOf.push_back((i * (ranks / perDirection) + (isDown ? stage : ranks - 1 - stage)) %
                         ranks);
  return rankOf;
}

class Chimera {
public:
  Chimera(const Shape &shape, const Slots &slots)
      : shape_(shape), slots_(slots), perTask_(static_cast<uint32_t>(slots.backward.size())),
        slotted_(shape.ranks) {
    order_ = emptyOrder(shape.ranks, chimeraPlacement(shape.ranks, shape.pipelinesPerDirection),
                        shape.microBatches);
    order_.stages = shape.ranks;
  }

  Order make() {
    const uint32_t forwards = shape_.ranks / (2 * shape_.pipelinesPerDirection); // of a pipeline
    uint32_t first = 0; // micro-batch: unit by unit, pipeline by pipeline
    for (uint32_t unit = 0; first < shape_.microBatches; ++unit)
      for (uint32_t pipeline = 0; pipeline < order_.pipelines(); ++pipeline)
        for (uint32_t k = 0; k < forwards; ++k, first += perTask_)
          for (uint32_t stage = 0; stage < shape_.ranks; ++stage)
            add(pipeline, stage, first, unit * slots_.length + 2 * k);
    for (uint32_t rank = 0; rank < shape_.ranks; ++rank) {
      std::sort(slotted_[rank].begin(), slotted_[rank].end(),
                [](const auto &a, const auto &b) { return a.first < b.first; });
      for (const auto &[slot, task] : slotted_[rank])
        order_.tasks[rank].push_back(task);
    }
    return std::move(order_);
  }

private:
  // The forward of `perTask_` micro-batches from `first` on and their backwards; `begin` is the
  // slot of their first action.
  void add(uint32_t pipeline, uint32_t stage, uint32_t first, uint32_t begin) {
    const uint32_t global = pipeline * shape_.ranks + stage;
    std::vector<std::pair<uint32_t, Task>> &slotted = slotted_[order_.rankOf[global]];
    const Action forward{Kind::Forward, global, first};
    slotted.emplace_back(begin + stage, perTask_ == 1
                                            ? Task(forward)
                                            : Task(forward, {Kind::Forward, global, first + 1}));
    for (uint32_t i = 0; i < perTask_; ++i) {
      order_.pipelineOf[first + i] = pipeline;
      slotted.emplace_back(begin + slots_.backward[i] - stage,
                           Action{Kind::Backward, global, first + i});
    }
  }

  const Shape &shape_;
  const Slots &slots_;
  const uint32_t perTask_; // micro-batches of a forward
  Order order_;
  std::vector<std::vector<std::pair<uint32_t, Task>>> slotted_; // by rank: tasks with their slots
};

Result<Order> make(const Shape &shape, const Slots &slots) {
  const uint32_t ranks = shape.ranks, f = shape.pipelinesPerDirection;
  if (ranks % 2 != 0 || ranks / 2 % f != 0)
    return Status::userError("found ", ranks, " ranks and ", f, " pipelines per direction; ",
                             "expected an even number of ranks, and a divisor of its half");
  if (const uint32_t unit = ranks * static_cast<uint32_t>(slots.backward.size());
      shape.microBatches % unit != 0)
    return Status::userError("found ", shape.microBatches, " micro-batches on ", ranks,
                             " ranks; expected a multiple of ", unit);
  return Chimera(shape, slots).make();
}

} // namespace

Result<Order> chimera(const Shape &shape) {
  return make(shape, {{2 * shape.ranks - 1}, 2 * shape.ranks});
}

// One forward task has two micro-batches, and takes as long as two forwards; with a backward of
// that length, forwards and backwards fill equal slots.
Result<Order> chimeraDoubled(const Shape &shape) {
  return make(shape, {{2 * shape.ranks - 1, 3 * shape.ranks - 1}, 3 * shape.ranks});
}

} // namespace cleave::pipelines
