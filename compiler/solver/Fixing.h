// Fixing: drops choices that no better solution takes.
//
// Reduced-cost fixing as in integer programming, with min-marginals in place of reduced costs (for
// elimination: R. Dechter, Constraint Processing, 2003, on bounding by mini-buckets): a lower bound on
// everything that takes a choice is compared with the cost of a known solution.
#pragma once

#include "compiler/solver/Bound.h"

namespace cleave::solver {

// The result of fixByCost().
struct Fixed {
  Network network;       // with the dropped choices forbidden
  int64_t dropped = 0;   // choices
  int64_t permitted = 0; // choices beyond the first of each node, before
};

// Forbids the choices whose lower bound `least` (seconds; per node and choice, with the network's
// constant) is not below `upper`, and those that exceed a budget while all other nodes take their
// least bytes.
Fixed fixByCost(const Network &network, const NodeCosts &least, double upper);

// Prices of the rows of `to`, which are some of the rows of `from`.
Prices matchPrices(const Network &from, const Prices &prices, const Network &to);

} // namespace cleave::solver
