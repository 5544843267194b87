// Check: recomputes cost and memory of choices from the Problem alone, by plain loops. Shares no
// code with the solver.
#pragma once

#include "compiler/solver/Problem.h"
#include "compiler/solver/Solution.h"

namespace cleave::solver {

// The sum of all choices' and edges' costs; kForbidden if any of them is.
double totalCost(const Problem &problem, const std::vector<int> &choices);

// Per space the largest use over all time points, and the nodes live there.
std::vector<MemoryPeak> memoryPeaks(const Problem &problem, const std::vector<int> &choices);

// One sentence per violation: of choices that do not exist or are forbidden, of pairs of choices
// that are, of budgets. Empty if the choices are a solution.
std::vector<std::string> violations(const Problem &problem, const std::vector<int> &choices);

// Ok if the choices are complete, permitted and within every budget. Else a defect that names the
// first violation.
Status checkChoices(const Problem &problem, const std::vector<int> &choices);

// Ok if the solution's choices pass checkChoices and its cost, bound, gap and peaks are consistent
// with them (up to 1e-9 relative). Else a defect.
Status checkSolution(const Problem &problem, const Solution &solution);

} // namespace cleave::solver
