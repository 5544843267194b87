// Balance: divides a list of work into stages of a pipeline. Plain data.
#pragma once

#include <cstdint>
#include <vector>

namespace cleave::stage {

// A list of ops in the order in which they run.
struct Chain {
  std::vector<double> seconds; // by op
  // By place between two ops: the seconds of passing the values that cross it. Place i lies before
  // op i; place 0 and the place after the last op are no borders.
  std::vector<double> crossing;
};

// The first ops of stages 1, 2, …, in ascending order, such that the slowest stage takes as few
// seconds as possible: those of its ops and of its borders. Ties go to the division whose stages
// cross fewer seconds in total. Only places where no neighbour crosses less are considered, unless
// these are too few. Requires at least as many ops as stages.
std::vector<int64_t> balancedCuts(const Chain &chain, int64_t stages);

} // namespace cleave::stage
