// SpaceSearch: plans whose values may be in other spaces than device memory, in host memory or a
// file, because pins say so or because they do not fit.
//
// Copies between spaces run beside computation, which the planner's network cannot state
// (OverlappedCopies.h). So plans are searched on clusters where copies count with a share of their
// seconds, for rising shares, until computation takes longer. The bound holds for plans that copy
// no more than the pins say, and is not lowered by copies.
#pragma once

#include "compiler/planner/search/RematSearch.h"

#include <memory>

namespace cleave::planner {

// Realises the policy that the pins determine, so that all plans begin with it. Leaves in `pinned`
// the rules that still bind.
Result<std::unique_ptr<Step>> realisePinned(const Step &step, PinnedRemat &pinned);

// Keeps references to the constructor's arguments.
class SpaceSearch {
public:
  // `pinned`: what realisePinned(), which made `step`, has left of it.
  SpaceSearch(const Step &step, const cluster::Cluster &cluster, const PlannerOptions &options,
              const Goal &goal, const PinnedRemat &pinned, Seen &seen);

  // The fastest plan with this policy, where pins may have moved values to other spaces. Infeasible
  // if it does not fit.
  Result<PlannedStep> pinned(const RematPolicy &policy, const TrialOptions &options) const;
  // Uses other spaces for values that do not fit. The layouts are the best ones without a limit,
  // and those for multiples of the budget. Infeasible if no plan is found.
  Result<PlannedStep> offloaded() const;

private:
  Result<std::optional<PlannedStep>> offloadedAt(double exposed, const PlannedStep &whole) const;
  Status searchOn(const Trials &trials, int64_t larger, RematSearch &remat) const;
  Result<bool> overlap(PlannedStep &planned, double exposed) const;

  const Step &step_;
  const cluster::Cluster &cluster_;
  const PlannerOptions &options_;
  Goal goal_;
  const PinnedRemat &pinned_;
  Seen &seen_;
  RematPolicy kept_; // keeps everything but for what is pinned
};

} // namespace cleave::planner
