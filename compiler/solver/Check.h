// Check: recomputes cost and memory of given choices from the Problem alone, by the plainest loops.
// It shares nothing with the solver, so that it can be believed when it contradicts it.
#pragma once

#include "compiler/solver/Problem.h"
#include "compiler/solver/Solution.h"

namespace cleave::solver {

// The sum of all choices' and edges' costs; `forbidden` if any of them is.
double totalCost(const Problem &problem, const std::vector<int> &choices);

// Per space the largest use over all time points, and what lives there.
std::vector<MemoryPeak> memoryPeaks(const Problem &problem, const std::vector<int> &choices);

// Ok if the choices are complete, permitted and within every budget. Else the first violation.
Status checkChoices(const Problem &problem, const std::vector<int> &choices);

// Ok if the solution's choices pass checkChoices, and the cost, bound, gap and peaks that it states
// are those (cost and bound up to 1e-9 relative).
Status checkSolution(const Problem &problem, const Solution &solution);

} // namespace cleave::solver
