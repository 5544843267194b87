// Explain: the answers of the solver in words: why each choice was made, and why nothing fits.
#pragma once

#include "compiler/planner/Plan.h"
#include "compiler/planner/PlanProblem.h"
#include "compiler/solver/Solution.h"

namespace cleave::planner {

// One entry per parameter, then the `maxOps` ops that cost most. The alternative is the choice that
// makes the step slower by the least, memory aside, all else staying as it is.
std::vector<Reason> explainChoices(const StepModel &model, const Mesh &mesh,
                                   const PlanProblem &plan, const std::vector<int> &choices,
                                   size_t maxOps);

// What holds memory at the peak, largest first, at most `count`.
std::vector<Holder> holdersAtPeak(const PlanProblem &plan, const solver::Solution &solution,
                                  size_t count);

// The message for a user whose step does not fit: missing bytes, smallest budget, what takes most,
// ways out. `pins`: what the user calls those that bind the plan; empty if there are none.
std::string explainInfeasible(const PlanProblem &plan, const solver::Solution &solution,
                              int64_t ranks, const std::string &pins);

} // namespace cleave::planner
