// Branch: branch and bound on a network, best bound first, to close the gap of the root bound.
//
// A branch fixes one node to the choice that the subproblems of the bound took most often, or
// excludes that choice.
#pragma once

#include "compiler/solver/Search.h"

namespace cleave::solver {

// Limits of branch().
struct BranchOptions {
  int maxBranches = 2000;       // nodes of the search tree
  int iterationsPerBranch = 12; // of the bounding loop
  double acceptedGap = 1e-9;    // relative
  double cutoff = kForbidden;   // only solutions below are of interest
  std::function<bool()> isLate; // ends when it returns true; may be empty
};

// The result of branch().
struct BranchResult {
  double bound = -kForbidden; // lower bound on all solutions
  bool isComplete = false; // the tree was exhausted: the best solution is optimal, or nothing fits
  int branches = 0;        // tree nodes visited
};

// Continues from the root's ascent. Offers all solutions found to `search`.
BranchResult branch(const Network &network, Elimination &elimination, const Ascent &root,
                    Search &search, const BranchOptions &options);

} // namespace cleave::solver
