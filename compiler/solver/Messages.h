// Messages: a cheap lower bound where exact elimination would be too large, jointly with the
// prices.
//
// Node costs are moved into edges and back, node after node, which changes no sum but raises the
// sum of the least entries of all nodes and edges: a lower bound (sequential reweighted message
// passing: V. Kolmogorov, IEEE PAMI 37(5), 2015, here for edges only). Between sweeps the prices of
// the memory rows are adapted as in Bound.h. What comes out is the same network written
// differently: the bounds of Elimination.h on it are tighter than on the original.
#pragma once

#include "compiler/solver/Bound.h"

namespace cleave::solver {

struct Tightened {
  Network network; // every choice of all nodes costs the same as before
  Prices prices;
  double bound = -forbidden; // includes the network's constant
  int iterations = 0;
};

// Continues from `start`. The costs of all single choices must be finite, as after Presolve.
Tightened tighten(const Network &network, const Prices &start, const AscentOptions &options,
                  const Candidate &candidate);

} // namespace cleave::solver
