// MinMarginals: per choice a lower bound on the cost of all solutions that take it.
//
// A choice whose bound exceeds the cost of a known solution is in no better one. This holds for all
// budgets, since memory is ignored: a problem can be reduced once and solved within many budgets.
#pragma once

#include "compiler/solver/Problem.h"
#include "compiler/solver/Solver.h"

namespace cleave::solver {

// Lower bounds that ignore memory, in seconds.
struct MinMarginals {
  double bound = 0; // on all solutions
  // Per node and choice, on the solutions that take the choice; kForbidden if there are none. Never
  // below `bound` but for rounding.
  std::vector<std::vector<double>> least;
  // Whether these are the least costs and not only bounds on them.
  bool isExact = false;
};

// The bounds of all choices, at about three times the cost of lowerBound(). A user error if the
// problem is invalid.
Result<MinMarginals> minMarginals(const Problem &problem, const SolveOptions &options = {});

// Per node and choice, whether a solution that costs less than `incumbent` may take it; equal costs
// count as less, up to rounding.
std::vector<std::vector<bool>> keptBelow(const MinMarginals &marginals, double incumbent);

} // namespace cleave::solver
