// LeastPeak: how little memory a network can do with, whatever that costs. Answers why nothing
// fits, and finds a first solution where the budgets are tight.
#pragma once

#include "compiler/solver/Search.h"

namespace cleave::solver {

// A lower bound, in bytes, on the largest use of `space` by any permitted choices (0 if the network
// has no rows of it), by weights on the rows that multiply up where the use is high. What it comes
// across is offered to `search`.
int64_t leastPeak(const Network &network, int space, int iterations, int64_t maxTableEntries,
                  Search &search);

} // namespace cleave::solver
