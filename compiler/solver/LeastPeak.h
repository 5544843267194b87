// LeastPeak: the least memory with which a network has a solution, at any cost. Proves
// infeasibility, and finds a first solution if budgets are tight.
#pragma once

#include "compiler/solver/Search.h"

namespace cleave::solver {

// A lower bound, in bytes, on the peak of `space` over all permitted choices; 0 if the network has
// no rows of that space, INT64_MAX if nothing is permitted. Weights of the rows grow
// multiplicatively with their use. All choices on the way are offered to `search` after repair.
int64_t leastPeak(const Network &network, int space, int iterations, int64_t maxTableEntries,
                  Search &search);

} // namespace cleave::solver
