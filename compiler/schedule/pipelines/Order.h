// Order: a pipeline schedule as data. Each rank runs a list of tasks strictly in order, and begins
// a task when its inputs have arrived.
//
// Terms:
//   stage        a contiguous part of the model. Stages 0, …, S - 1 of one pipeline form a chain.
//   pipeline     one copy of the chain. Bidirectional schedules have several; stage s of pipeline p
//                is stage p·S + s of the order, and each micro-batch goes through one pipeline.
//   micro-batch  a part of the batch, numbered from 0 over all pipelines.
//
// Dependencies of an action on stage s for micro-batch m:
//   F   forward          F of stage s - 1
//   B   full backward    F of stage s; B or I of stage s + 1; R of stage s, if there is one
//   I   input gradient   as B
//   W   weight gradient  I of stage s
//   R   recompute        F of stage s: it needs what the stage received, and no gradient
// A backward is either one B, or an I and a W.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cleave::pipelines {

enum class Kind : uint8_t { Forward, Backward, InputGradient, WeightGradient, Recompute };

// `F`, `B`, `I`, `W`, `R`.
char letterOf(Kind kind);

struct Action {
  Kind kind = Kind::Forward;
  uint32_t stage = 0;
  uint32_t microBatch = 0;
  auto operator<=>(const Action &) const = default;
};

// One action, or two that run as one task: it needs the inputs of both at its begin, and has the
// results of both at its end. Pairs are
//   a forward and a full backward      which overlap and may take less than the sum of both,
//   two forwards of one stage          of two micro-batches as one batch,
//   a recompute and its full backward  so that the recompute waits for the gradient, too.
class Task {
public:
  Task(Action action) : pair_{action}, size_(1) {}
  Task(Action first, Action second) : pair_{first, second}, size_(2) {}

  std::span<const Action> actions() const { return std::span(pair_).first(size_); }
  bool isOverlap() const; // a forward and a full backward
  bool operator==(const Task &) const = default;

private:
  std::array<Action, 2> pair_;
  uint32_t size_;
};

struct Order {
  uint32_t stages = 0;                  // of one pipeline
  std::vector<uint32_t> rankOf;         // by stage of the order: pipelines · stages entries
  std::vector<uint32_t> pipelineOf;     // by micro-batch
  std::vector<std::vector<Task>> tasks; // by rank

  uint32_t ranks() const { return static_cast<uint32_t>(tasks.size()); }
  uint32_t microBatches() const { return static_cast<uint32_t>(pipelineOf.size()); }
  uint32_t pipelines() const { return static_cast<uint32_t>(rankOf.size()) / stages; }
  // Whether a stage of the order begins or ends its pipeline.
  bool isFirst(uint32_t stage) const { return stage % stages == 0; }
  bool isLast(uint32_t stage) const { return stage % stages == stages - 1; }
  // A number for each (stage of the order, micro-batch), below rankOf.size() · microBatches().
  size_t indexOf(uint32_t stage, uint32_t microBatch) const {
    return size_t(stage) * microBatches() + microBatch;
  }
  bool operator==(const Order &) const = default;
};

// An order of one pipeline without tasks. Stage s is on rank rankOf[s].
Order emptyOrder(uint32_t ranks, std::vector<uint32_t> rankOf, uint32_t microBatches);

// The rank of each stage. Loop: stage s on rank s mod `ranks`, `perRank` stages on each.
std::vector<uint32_t> loopPlacement(uint32_t ranks, uint32_t perRank);
// V, two stages per rank: stage s on rank s, then back: stage `ranks` + s on rank `ranks` - 1 - s.
std::vector<uint32_t> vPlacement(uint32_t ranks);

// Stage, letter and micro-batch, in PyTorch's notation: `2F0`.
std::string textOf(const Action &action);
// `2F0`, `(0F3;7B1)OVERLAP_F_B`, `(0F0;0F1)PAIR_F`, and `2C0` for a recompute with its backward.
// The last two, and R, are not in PyTorch.
std::string textOf(const Task &task);
// One line per rank: its tasks, separated by commas; no newline at the end.
std::string textOf(const Order &order);

} // namespace cleave::pipelines
