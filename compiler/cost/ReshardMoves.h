// ReshardMoves: the layouts of a mesh by number, and the steps that lead from one to another, apart
// from what depends on the tensor. They are enumerated once for all tensors.
#pragma once

#include "compiler/cost/Reshard.h"

#include <deque>
#include <unordered_map>

namespace cleave::cost {

// A step of a layout change. Its bytes and seconds are those of the last tensor it was priced for.
struct ReshardMove {
  ReshardStep step;
  int result = 0; // the number of step.result
};

// Per layout, by number, the seconds of all moves from it for one tensor; negative where its blocks
// do not permit the move.
using MoveSeconds = std::unordered_map<int, std::vector<double>>;

// The moves on one mesh; keeps a reference to it.
class ReshardMoves {
public:
  explicit ReshardMoves(const Mesh &mesh) : mesh_(mesh) {}

  // Equal layouts have equal numbers, counted from 0.
  int number(const Sharding &layout);
  const Sharding &layout(int number) const { return layouts_[number]; }
  // The same for sets of axes, given in rising order.
  int numberOfSet(const std::vector<int> &axes);

  // The moves from a layout; only axes of the set `split` may become split. The caller checks that
  // the blocks of the tensor nest. The list stays at its place.
  std::vector<ReshardMove> &from(int layout, int split);
  // The place where all searches for one tensor keep the seconds of these moves.
  MoveSeconds &secondsOf(int tensor, int split) { return seconds_[{tensor, split}]; }

private:
  const Mesh &mesh_;
  std::map<Sharding, int> numbers_;
  std::deque<Sharding> layouts_;
  std::map<std::vector<int>, int> setNumbers_;
  std::vector<std::vector<int>> sets_;
  std::unordered_map<int64_t, std::vector<ReshardMove>> moves_; // by layout and set
  std::map<std::pair<int, int>, MoveSeconds> seconds_;          // by tensor and set
};

} // namespace cleave::cost
