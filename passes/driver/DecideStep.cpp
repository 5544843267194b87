#include "passes/driver/DecideStep.h"

#include "passes/driver/Decider.h"

namespace cleave::driver {

// Which layouts repetitions are searched for depends on whether any plan is enough. What is found
// then must be found in any case.
Result<Decided> decideStep(ModuleOp module, const cluster::Cluster &cluster,
                           const planner::PlannerOptions &options) {
  Decider decider(module, cluster, options);
  Result<Decided> decided = decider.run();
  const bool isTooLarge = decided.status().kind() == StatusKind::Infeasible;
  if (!isTooLarge || !decider.isSearched() || options.isAnyEnough)
    return decided;
  planner::PlannerOptions any = options;
  any.isAnyEnough = true;
  any.whenTooLarge = planner::WhenTooLarge::Search;
  any.onTooLarge = nullptr;
  Result<Decided> other = Decider(module, cluster, any).run();
  return other ? std::move(other) : std::move(decided);
}

} // namespace cleave::driver
