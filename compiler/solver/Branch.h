// Branch: branch and bound on a network, best bound first, to close the gap of the root bound.
//
// Every node of the tree is a network of its own: the root's with fewer choices (BranchNode.h).
#pragma once

#include "compiler/solver/Search.h"

namespace cleave::solver {

// Limits of branch().
struct BranchOptions {
  int maxBranches = 2000;                     // nodes of the search tree
  int64_t maxWork = INT64_MAX;                // additions in tables
  int64_t maxTableEntries = int64_t(1) << 14; // of inexact elimination
  int64_t maxExactWork = int64_t(1) << 25;    // additions of one evaluation of exact elimination
  // Per tree node passes of messages, if elimination is inexact, and iterations of the bounding
  // loop.
  int sweeps = 60, iterations = 12;
  double acceptedGap = 1e-9;    // relative
  double cutoff = kForbidden;   // only solutions below are of interest
  std::function<bool()> isLate; // ends when it returns true; may be empty
  // Tree nodes that are visited at once, >= 1. The result depends on it, but not on which thread is
  // faster.
  int threads = 1;
};

// The result of branch().
struct BranchResult {
  double bound = -kForbidden; // lower bound on all solutions
  bool isComplete = false; // the tree was exhausted: the best solution is optimal, or nothing fits
  int branches = 0;        // tree nodes visited
};

// Continues from the root's ascent. Offers all solutions found to `search`.
BranchResult branch(const Network &network, const Ascent &root, Search &search,
                    const BranchOptions &options);

} // namespace cleave::solver
