// Messages: a cheap lower bound and prices for networks that are too large for exact elimination.
//
// Node costs are moved into edges and back, node after node. This changes no total cost but raises
// the sum of the least entries of all nodes and edges, which is a lower bound (sequential
// reweighted message passing: V. Kolmogorov, IEEE PAMI 37(5), 2015, here for edges only). Between
// sweeps the prices of the memory rows are adapted as in Bound.h. The result is an equivalent
// network for which the bounds of Elimination.h are tighter than for the original.
#pragma once

#include "compiler/solver/Bound.h"

namespace cleave::solver {

// The result of tighten().
struct Tightened {
  Network network;            // equivalent: all combinations of choices cost the same as before
  Prices prices;              // that attain the bound
  double bound = -kForbidden; // includes the network's constant
  int iterations = 0;         // done
};

// Continues from the prices `start`. The costs of all single choices must be finite, as after
// Presolve.
Tightened tighten(const Network &network, const Prices &start, const AscentOptions &options,
                  const Candidate &candidate);

} // namespace cleave::solver
