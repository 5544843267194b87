// Remarks: every decision of a plan as one sentence with its reason and numbers. Seconds are per
// step, bytes per rank.
#pragma once

#include "compiler/planner/network/Costs.h"
#include "compiler/planner/network/PlanProblem.h"
#include "compiler/planner/report/PlanReport.h"
#include "compiler/solver/Solution.h"

namespace cleave::planner {

// In this order: mesh, what each of its axes splits, bound, memory, pins; arguments and ops that
// are not replicated, and all parameters, each with the next best choice; layout changes with their
// collectives and prices (of single collectives, before reductions are joined into buckets).
// `plan` must be complete but for its remarks, `solution` is that of `problem`, and `costs` those
// of the plan's mesh.
std::vector<PlanRemark> remarksOn(const StepModel &model, const PlanReport &plan,
                                  const PlanProblem &problem, const solver::Solution &solution,
                                  Costs &costs);

} // namespace cleave::planner
