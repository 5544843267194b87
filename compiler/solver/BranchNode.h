// BranchNode: one node of the tree of branch and bound, which is the root's network with fewer
// choices.
//
// A visit presolves what is left, bounds it by messages and elimination from the prices of the
// parent, and drops what the min-marginals exclude, for the whole subtree (Fixing.h). At rows whose
// prices bind, the bound mixes choices of few and of many bytes, which no solution does; the
// children are those of few bytes and those of many.
#pragma once

#include "compiler/solver/Branch.h"

namespace cleave::solver {

// Per node and choice of the root's network.
using ChoiceSet = std::vector<std::vector<bool>>;

// A node that is still to be visited.
struct BranchNode {
  double bound = -kForbidden; // on its solutions
  std::shared_ptr<const ChoiceSet> dropped;
  std::shared_ptr<const Prices> prices; // of the root's rows, to begin with
};

// What a visit found.
struct Visited {
  double bound = -kForbidden; // on its solutions that cost less than the best one known
  Prices prices;              // that attain it
  std::optional<std::vector<int>> solution; // of the root's network, if one was found
  // Per child what is dropped; every better solution is in one of them. None if the bound excludes
  // better solutions.
  std::vector<ChoiceSet> children;
  int64_t work = 0; // additions in tables
};

// Visits a node of the tree below `root`. `upper`: the cost of the best solution known.
Visited visit(const Network &root, const BranchNode &node, double upper,
              const BranchOptions &options);

} // namespace cleave::solver
