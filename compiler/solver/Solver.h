// Solver: finds a good solution of a Problem and a lower bound on all solutions.
//
// presolve (Presolve.h) -> Lagrange multipliers on the memory rows (Bound.h) around elimination
// (Elimination.h), preceded by message passing where that is inexact or slow (Messages.h) -> repair
// and search of parts (Search.h) -> branch and bound if it can close what is left (Branch.h).
#pragma once

#include "compiler/solver/Problem.h"
#include "compiler/solver/Solution.h"

#include <memory>

namespace cleave::solver {

// Limits and tolerances of a solve.
struct SolveOptions {
  // Deterministic limits: the same input gives the same result on every machine.
  int maxIterations = 300;   // of the bounding loop
  int maxSearchRounds = 250; // of re-solving parts; 0: the solve ends with the bounding loop
  int maxBranches = 2000;    // nodes of branch and bound
  // Entries of one elimination table; more make inexact elimination tighter and slower.
  int64_t maxTableEntries = int64_t(1) << 16;
  // Additions in tables, for the bounding loop and again for branching; about 3e9 per second.
  int64_t maxWork = 2'000'000'000;
  // Safety limit: beyond it the best solution so far is returned, which depends on the machine.
  double maxSeconds = 300;
  double acceptedGap = 1e-9; // relative; a smaller gap counts as optimal
  double goodGap = 0;        // relative; with a smaller gap the solve ends, and reports it
  // Seconds. Only solutions below are of interest: the solve ends when it is proven that there are
  // none. The lower bound is then at least the cutoff, and the solution may be missing (NotFound).
  double cutoff = kForbidden;
  // Whether what the bounding loop leaves of the gap is closed by search and branches.
  bool closesGap = true;
  uint64_t seed = 1; // of the search
  // Parts of the search that are solved at once, >= 1. The result depends on it, but not on which
  // thread is faster.
  int threads = 1;
};

// A solve that has begun.
class Solve;

// A lower bound on the cost of all solutions.
struct Bounded {
  double seconds = -kForbidden; // kForbidden if no combination of choices is permitted
  bool isFinal = false;         // raise() would do nothing
  std::shared_ptr<Solve> begun; // what solve() of the same problem continues from
};

// The beginning of a bound that ignores memory, to be raised step by step. A user error if the
// problem is invalid.
Result<Bounded> beginBound(const Problem &problem, const SolveOptions &options = {});
// A step of a few milliseconds per thousand nodes, unless the bound is final.
void raise(Bounded &bounded);

// The final bound that ignores memory: the first step of solve(), at a fraction of its time. A user
// error if the problem is invalid.
Result<Bounded> lowerBound(const Problem &problem, const SolveOptions &options = {});

// Solves the problem; infeasibility is a status of the Solution. A user error if the problem is
// invalid. `begun`: of beginBound() of this problem, or of a copy, with these options but for the
// cutoff and `closesGap`; null: there is none. After a solve that does not close the gap it can be
// continued by one that does.
Result<Solution> solve(const Problem &problem, const SolveOptions &options = {},
                       std::shared_ptr<Solve> begun = {});

} // namespace cleave::solver
