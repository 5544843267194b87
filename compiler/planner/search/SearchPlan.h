// SearchPlan: the decisions on a step: what is recomputed, what is kept elsewhere, and how
// everything is split.
//
// If the fastest plan that keeps everything fits, it is taken. Else layouts and recomputation are
// bounded and chosen together on every mesh (JointMeshes.h), or it is proven that no plan fits on
// any; plans in device memory are searched by BudgetSearch.h, those that may use other spaces by
// SpaceSearch.h. The fastest plan that fits wins.
#pragma once

#include "compiler/planner/search/Trials.h"

namespace cleave::planner {

// Searches the best plan of a step. Infeasible if none is found that fits; other errors as of
// planStep, pinnedRemat and Step. `seen` gets the extremes among the programs, also then.
Result<PlannedStep> searchPlan(const Step &step, const cluster::Cluster &cluster,
                               const PlannerOptions &options, const Goal &goal, Seen &seen);
Result<PlannedStep> searchPlan(const Step &step, const cluster::Cluster &cluster,
                               const PlannerOptions &options);

} // namespace cleave::planner
