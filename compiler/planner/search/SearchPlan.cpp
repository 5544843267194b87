#include "compiler/planner/search/SearchPlan.h"

#include "compiler/planner/remat/FatePins.h"
#include "compiler/planner/search/BudgetSearch.h"
#include "compiler/planner/search/SpaceSearch.h"
#include "runtime/base/Units.h"

#include <utility>

namespace cleave::planner {

static std::string recomputationText(const Plan &plan, const Seen::Whole &whole) {
  const size_t again = plan.repetitions.size();
  if (again == 0)
    return "";
  return concat(again,
                " activations are recomputed in the backward pass: ", bytesText(plan.peakBytes),
                " at the peak instead of ", bytesText(whole.peakBytes), ", ",
                secondsText(plan.seconds), " per step instead of ", secondsText(whole.seconds),
                "; the bound covers all plans within this budget whose recomputed values keep "
                "their original layout");
}

// In device memory, where the fastest plan that keeps everything does not fit: `free` says so.
static Result<PlannedStep> searchInBudget(const Step &step, const cluster::Cluster &cluster,
                                          const PlannerOptions &options, const ForcedFates &forced,
                                          Seen &seen, Result<PlannedStep> free) {
  CLEAVE_TRY_ASSIGN(const std::vector<JointMesh> meshes,
                    jointMeshes(step.model(), cluster, options, forced));
  if (meshes.empty())
    return free; // memory is not the reason
  CLEAVE_TRY_ASSIGN(const cluster::Cluster shared, cluster::forRanks(cluster, options.ranks));
  const double bound = meshes[0].boundSeconds; // they are in rising order
  if (bound == solver::kForbidden) {
    const Trials trials(step, cluster, options, seen);
    return BudgetSearch(trials, forced, shared).refuse(meshes);
  }
  Proven proven{bound, {}};
  for (const JointMesh &mesh : meshes)
    proven.meshes.emplace_back(mesh.mesh, mesh.boundSeconds);
  const Trials trials(step, cluster, options, seen, std::move(proven));
  BudgetSearch search(trials, forced, shared);
  return options.pins.recompute() == Recompute::ShardingFirst ? search.shardingFirst()
                                                              : search.jointly(meshes);
}

static Result<PlannedStep> search(const Step &step, const cluster::Cluster &cluster,
                                  const PlannerOptions &options, ForcedFates forced, Seen &seen) {
  const Fates kept = fatesOf(step.model(), forced);
  const Trials trials(step, cluster, options, seen);
  const bool hasSpaces = options.spaces.any();
  if (isDetermined(forced) && !hasSpaces)
    return trials.plan(kept, trials.within(options.whenTooLarge));
  const SpaceSearch spaces(step, cluster, options, forced, seen);
  Result<PlannedStep> free = spaces.pinned(kept, trials.within(WhenTooLarge::Stop));
  CLEAVE_TRY(unlessInfeasible(free.status()));
  if (free || !options.budget.isLimited())
    return free;
  Result<PlannedStep> found =
      hasSpaces ? spaces.offloaded()
                : searchInBudget(step, cluster, options, forced, seen, std::move(free));
  if (found)
    found->recomputation = recomputationText(found->plan, *seen.whole);
  return found;
}

static Result<PlannedStep> searchOnce(const Step &step, const cluster::Cluster &cluster,
                                      const PlannerOptions &options, Seen &seen) {
  CLEAVE_TRY_ASSIGN(ForcedFates forced, forcedFates(step.model(), options.pins, options.spaces));
  if (!options.spaces.any())
    return search(step, cluster, options, std::move(forced), seen);
  CLEAVE_TRY_ASSIGN(const std::unique_ptr<Step> realised, realiseForced(step, forced));
  return search(*realised, cluster, options, std::move(forced), seen);
}

Result<PlannedStep> searchPlan(const Step &step, const cluster::Cluster &cluster,
                               PlannerOptions options) {
  const auto onTooLarge = std::exchange(options.onTooLarge, nullptr);
  Seen seen;
  Result<PlannedStep> found = searchOnce(step, cluster, options, seen);
  if (found.status().kind() == StatusKind::Infeasible && onTooLarge && seen.leastBytes)
    onTooLarge(*seen.leastBytes);
  return found;
}

} // namespace cleave::planner
