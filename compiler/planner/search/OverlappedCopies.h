// OverlappedCopies: plans whose copies between spaces run beside computation.
//
// A step takes the longer of its computation and its copies, which the planner's network cannot
// state: its seconds are sums. So plans are searched on clusters whose links to other spaces are
// faster, where copies count with a share of their seconds.
#pragma once

#include "compiler/cluster/Cluster.h"
#include "compiler/planner/model/StepModel.h"
#include "compiler/planner/report/PlanReport.h"

namespace cleave::planner {

// The share for bounds: if no plan takes less than b seconds with copies at a share e, none takes
// less than b / (1 + e) with copies beside computation.
inline constexpr double kLeastExposed = 1.0 / 1024;

// Whether values of the step are in other spaces.
bool hasCopies(const StepModel &model);

// The cluster on which copies take this share of their seconds.
cluster::Cluster withExposedCopies(const cluster::Cluster &cluster, double share);

// Sets the seconds and the gap of a plan that was found with copies at this share: those of its
// computation or of its copies, whichever is longer. `shared`: the cluster as ranks see it, with
// its own links. Returns whether computation is longer.
bool overlapCopies(PlanReport &plan, const StepModel &model, const cluster::Cluster &shared,
                   double share);

} // namespace cleave::planner
