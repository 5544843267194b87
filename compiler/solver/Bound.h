// Bound: a lower bound by Lagrange multipliers, one price per memory row in seconds per byte.
//
// For any prices >= 0, the minimum over all choices of cost + sum over rows of price * (bytes -
// budget) is at most the best cost within the budgets. Prices rise on rows where the minimising
// choices exceed the budget and fall on rows where they stay below (a subgradient method with
// Polyak's step: B. Polyak, USSR Comp. Math. 9, 1969). These choices are also good starting points
// for Search.h.
#pragma once

#include "compiler/solver/Elimination.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace cleave::solver {

// Per row, seconds per byte, >= 0.
using Prices = std::vector<double>;

// The node costs plus the price of the nodes' bytes.
NodeCosts pricedCosts(const Network &network, const NodeCosts &costs, const Prices &prices);

// When an ascent ends.
struct AscentOptions {
  int iterations = 100;         // at most
  double acceptedGap = 1e-9;    // ends when the upper bound or the cutoff is this close (relative)
  double goodGap = 0;           // or the upper bound, if it is below the cutoff, this close
  double cutoff = kForbidden;   // steps do not depend on it
  double leastRise = 1e-7;      // of the bound (relative); a pass with less is idle (Messages.h)
  bool keepsPrices = false;     // the prices stay as they are (Messages.h)
  std::function<bool()> isLate; // ends when it returns true; may be empty
};

// Whether the bound is within the accepted gap of the upper bound or the cutoff, or within the good
// gap of an upper bound below the cutoff.
inline bool isEnough(double bound, double upper, double cutoff, double acceptedGap,
                     double goodGap) {
  const double least = std::min(upper, cutoff);
  const double gap = upper < cutoff ? std::max(acceptedGap, goodGap) : acceptedGap;
  return least < kForbidden && least - bound <= gap * std::abs(least);
}

// The result of an ascent.
struct Ascent {
  double bound = -kForbidden; // the best; includes the network's constant
  Prices prices;              // that attain the bound
  int iterations = 0;         // done
  NodeCosts mean; // per node and choice the recent frequency of the choice; sums to 1 per node
};

// Called with the choices of every iteration, which may be forbidden or exceed the budgets. Returns
// the cost of the best solution so far, kForbidden if there is none.
using Candidate = std::function<double(const std::vector<int> &choices)>;

// Improves the bound from `start`. `costs` replaces the network's node costs. A bound of kForbidden
// proves that nothing is permitted.
Ascent ascend(const Network &network, Elimination &elimination, const NodeCosts &costs,
              const Prices &start, const AscentOptions &options, const Candidate &candidate);

} // namespace cleave::solver
