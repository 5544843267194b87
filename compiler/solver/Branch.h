// Branch: branch and bound on a network, best bound first, to close what the root bound leaves
// open.
//
// A branch fixes one node to the choice that the bound's subproblems took most often, or excludes
// it.
#pragma once

#include "compiler/solver/Search.h"

namespace cleave::solver {

struct BranchOptions {
  int maxBranches = 2000;
  int iterationsPerBranch = 12; // of the bounding loop
  double acceptedGap = 1e-9;
  double cutoff = forbidden;    // solutions of this cost or more are of no interest
  std::function<bool()> isLate; // stop when true; may be empty
};

struct BranchResult {
  double bound = -forbidden; // on all solutions
  bool isComplete = false;   // all was searched: the search's best is optimal, or nothing fits
  int branches = 0;
};

// Continues from the root's ascent; offers what it finds to `search`.
BranchResult branch(const Network &network, Elimination &elimination, const Ascent &root,
                    Search &search, const BranchOptions &options);

} // namespace cleave::solver
