// Fixing: drops choices and pairs of choices that no better solution takes.
//
// Reduced-cost fixing as in integer programming (G. Dantzig, R. Fulkerson and S. Johnson,
// Operations Research 2, 1954), with min-marginals in place of reduced costs: a lower bound on
// everything that takes a choice is compared with the cost of a known solution.
#pragma once

#include "compiler/solver/Bound.h"

namespace cleave::solver {

// Choices and pairs to be dropped.
struct Drops {
  std::vector<std::vector<bool>> choices; // per node and choice
  std::vector<std::vector<bool>> pairs;   // per edge and entry of its table; empty: none
  double choiceShare = 0;                 // of all choices beyond the first of each node
  double pairShare = 0; // of all pairs of the remaining choices that are permitted

  // Whether some node has no choice left.
  bool leavesNone() const;
};

// Lower bounds, with the network's constant, on all solutions that take a choice or, with
// `withPairs`, a pair of choices, by these prices. `costs` replaces the network's node costs.
Marginals lowerBounds(const Network &network, Elimination &elimination, const NodeCosts &costs,
                      const Prices &prices, bool withPairs);

// What has a lower bound (with the network's constant) that is not below `upper`, and choices that
// exceed a budget while all other nodes take their least bytes.
Drops dropsAbove(const Network &network, const Marginals &least, double upper);

// The network with these choices and pairs forbidden.
Network without(const Drops &drops, const Network &network);

// Prices of the rows `to` by those of the rows `from`; 0 for rows that are not among these.
Prices matchPrices(const std::vector<Row> &from, const Prices &prices, const std::vector<Row> &to);

} // namespace cleave::solver
