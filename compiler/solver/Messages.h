// Messages: a cheap lower bound and prices for networks that are too large for exact elimination.
//
// Node costs are moved into edges and back, node after node. This changes no total cost but raises
// the sum of the least entries of all nodes and edges, which is a lower bound (sequential
// reweighted message passing: V. Kolmogorov, IEEE PAMI 37(5), 2015, here for edges only). Between
// sweeps the prices of the memory rows are adapted as in Bound.h. The result is an equivalent
// network for which the bounds of Elimination.h are tighter than for the original. On networks of
// many equal layers a few sweeps give a better bound, in less time, than elimination with split
// tables.
#pragma once

#include "compiler/solver/Bound.h"

#include <memory>

namespace cleave::solver {

class Sweeps;

// The result of Messages::tighten().
struct Tightened {
  Prices prices;              // that attain the bound
  double bound = -kForbidden; // includes the network's constant
  int iterations = 0;         // done
};

// The messages of one network, whose single choices must all have finite costs, as after Presolve.
// Keeps a reference to it.
class Messages {
public:
  explicit Messages(const Network &network);
  ~Messages();

  // Continues from the messages so far and from the prices `start`. Without memory rows it ends
  // when a pass no longer raises the bound. `candidate` may be empty.
  Tightened tighten(const Prices &start, const AscentOptions &options, const Candidate &candidate);
  // An equivalent network, with the messages added: all combinations of choices cost the same.
  Network rewritten() const;

private:
  const Network &network_;
  NodeCosts costs_; // of the network
  std::unique_ptr<Sweeps> sweeps_;
};

} // namespace cleave::solver
