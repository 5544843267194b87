// Bound: a lower bound by Lagrange multipliers, one price per memory row in seconds per byte.
//
// For any prices >= 0, the least of (cost + price * (bytes - budget) summed over the rows), over
// all choices, is at most the best cost within the budgets. The prices are raised where the choices
// that attain it exceed the budget and lowered where they stay below (a subgradient method with
// Polyak's step: B. Polyak, USSR Comp. Math. 9, 1969). Those choices are also good starting points
// for Search.h.
#pragma once

#include "compiler/solver/Elimination.h"

#include <cmath>
#include <functional>

namespace cleave::solver {

using Prices = std::vector<double>; // per row, seconds per byte, >= 0

// The node costs plus what the node's bytes cost at these prices.
NodeCosts pricedCosts(const Network &network, const NodeCosts &costs, const Prices &prices);

struct AscentOptions {
  int iterations = 100;
  double acceptedGap = 1e-9;    // stop when the upper bound is this close (relative)
  double cutoff = forbidden;    // or the bound to this; steps do not depend on it
  std::function<bool()> isLate; // stop when true; may be empty
};

// Whether the bound is so close to the upper bound or the cutoff that more of it is of no use.
inline bool isEnough(double bound, double upper, double cutoff, double acceptedGap) {
  const double least = std::min(upper, cutoff);
  return least < forbidden && least - bound <= acceptedGap * std::abs(least);
}

struct Ascent {
  double bound = -forbidden; // the best; includes the network's constant
  Prices prices;             // that attain it
  int iterations = 0;
  NodeCosts mean; // per node and choice how often it was taken lately; sums to one per node
};

// Called with the choices of every iteration, which may be forbidden or exceed the budgets. Returns
// the cost of the best solution known so far, `forbidden` if there is none.
using Candidate = std::function<double(const std::vector<int> &choices)>;

// Improves the bound from `start`. `costs` are the node costs to use instead of the network's own.
// A bound of `forbidden` proves that nothing is permitted.
Ascent ascend(const Network &network, Elimination &elimination, const NodeCosts &costs,
              const Prices &start, const AscentOptions &options, const Candidate &candidate);

} // namespace cleave::solver
