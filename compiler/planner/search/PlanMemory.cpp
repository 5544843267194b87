#include "compiler/planner/search/PlanMemory.h"

namespace cleave::planner {

std::optional<Result<PlanReport>> PlanMemory::within(const Budget &budget) const {
  for (const Entry &entry : entries_)
    if (budget.isAtMost(entry.budget) && (!entry.found || budget.holds(entry.found->arenaBytes)))
      return entry.found;
  return std::nullopt;
}

void PlanMemory::add(const Budget &budget, const Result<PlanReport> &found) {
  if (!found && found.status().kind() != StatusKind::Infeasible)
    return;
  // A plan that no budget binds is the fastest without one.
  const bool isFastest = found && !found->isBinding;
  entries_.push_back({isFastest ? Budget::unlimited() : budget, found});
}

} // namespace cleave::planner
