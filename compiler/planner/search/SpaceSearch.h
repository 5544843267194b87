// SpaceSearch: plans whose values may be in other spaces than device memory, in host memory or a
// file, because pins say so or because they do not fit.
//
// Copies between spaces run beside computation, which the planner's network cannot state
// (OverlappedCopies.h). So plans are searched on clusters where copies count with a share of their
// seconds, for rising shares, until computation takes longer. The bound holds for plans that copy
// no more than the pins say, and is not lowered by copies.
#pragma once

#include "compiler/planner/search/FateSearch.h"

#include <memory>

namespace cleave::planner {

// Realises the fates that the pins determine, so that all plans begin with them. Leaves in `forced`
// the rules that still bind.
Result<std::unique_ptr<Step>> realiseForced(const Step &step, ForcedFates &forced);

// Keeps references to the constructor's arguments.
class SpaceSearch {
public:
  // `forced`: what is left of it by realiseForced(), which made `step`.
  SpaceSearch(const Step &step, const cluster::Cluster &cluster, const PlannerOptions &options,
              const Goal &goal, const ForcedFates &forced, Seen &seen);

  // The fastest plan with these fates, where pins may have moved values to other spaces. Infeasible
  // if it does not fit.
  Result<PlannedStep> pinned(const Fates &fates, const TrialOptions &options) const;
  // Uses other spaces for values that do not fit. The layouts are the best ones without a limit,
  // and those for multiples of the budget. Infeasible if no plan is found.
  Result<PlannedStep> offloaded() const;

private:
  Result<std::optional<PlannedStep>> offloadedAt(double exposed, const PlannedStep &whole) const;
  Status searchOn(const Trials &trials, int64_t larger, FateSearch &fates) const;
  Result<bool> overlap(PlannedStep &planned, double exposed) const;

  const Step &step_;
  const cluster::Cluster &cluster_;
  const PlannerOptions &options_;
  Goal goal_;
  const ForcedFates &forced_;
  Seen &seen_;
  Fates kept_; // those that keep everything, but for what is forced
};

} // namespace cleave::planner
