// Solver: finds a good solution of a Problem together with a lower bound on all solutions.
//
// presolve (Presolve.h) -> Lagrange multipliers on the memory rows (Bound.h) around elimination
// (Elimination.h), preceded by message passing where that is inexact or slow (Messages.h) -> repair and
// search of parts (Search.h) -> branch and bound if it can close what is left (Branch.h).
#pragma once

#include "compiler/solver/Problem.h"
#include "compiler/solver/Solution.h"

namespace cleave::solver {

struct SolveOptions {
  // The limits that count: the same input then gives the same answer on every machine.
  int maxIterations = 300;   // of the bounding loop
  int maxSearchRounds = 250; // of improving the solution by searching around it
  int maxBranches = 2000;    // nodes of branch and bound
  // Of one elimination table: more makes the bound tighter where elimination is inexact, and slower.
  int64_t maxTableEntries = int64_t(1) << 16;
  // Additions in tables, of the bounding loop and again of branching; about 3e9 per second.
  int64_t maxWork = 2'000'000'000;
  // Safety only: beyond it the best so far is returned, which then depends on the machine.
  double maxSeconds = 300;
  double acceptedGap = 1e-9; // relative; closer is optimal
  // Solutions of this cost or more are of no interest: it is enough to prove that there are no others. The answer's
  // lower bound is then at least this, and a solution may be missing (NotFound).
  double cutoff = forbidden;
  uint64_t seed = 1;
};

// A bound that all solutions obey, without regard to memory: what solve() begins with, at a fraction of its time.
// `forbidden` if no combination of choices is permitted.
Result<double> lowerBound(const Problem &problem, const SolveOptions &options = {});

// An invalid problem is a user error. That nothing fits is a Solution with that status.
Result<Solution> solve(const Problem &problem, const SolveOptions &options = {});

} // namespace cleave::solver
