// ReadSolution: from the solution of a cost network to the decisions that it stands for.
#pragma once

#include "compiler/planner/choices/Decisions.h"
#include "compiler/planner/network/PlanProblem.h"

namespace cleave::planner {

// The decisions of these choices, one per node of the problem and none of them a rest, with the
// buckets that follow (Buckets.h).
Decisions readSolution(Costs &costs, const PlanProblem &problem, const std::vector<int> &choices);

} // namespace cleave::planner
