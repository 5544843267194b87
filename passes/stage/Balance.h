// Balance: where a chain of ops is cut into chunks, so that the slowest one is as fast as possible.
// Plain data.
#pragma once

#include <cstdint>
#include <vector>

namespace cleave::stage {

// Place i lies before op i, and the last place after all ops.
struct Chain {
  std::vector<double> seconds;  // by op
  std::vector<double> crossing; // by place: the seconds of passing the values that cross it
};

// The first ops of chunks 1, 2, …; there are at least as many ops as chunks. Chunks begin where no
// neighbouring place is crossed for fewer seconds, unless these places are too few.
std::vector<int64_t> balancedCuts(const Chain &chain, int64_t chunks);

} // namespace cleave::stage
