#include "compiler/planner/search/SearchPlan.h"

#include "compiler/planner/remat/RematPins.h"
#include "compiler/planner/search/BudgetSearch.h"
#include "compiler/planner/search/SpaceSearch.h"
#include "runtime/base/Units.h"

#include <utility>

namespace cleave::planner {

static std::string recomputationText(const PlanReport &plan, const Seen::Whole &whole) {
  const size_t count = plan.recomputed.size();
  if (count == 0)
    return "";
  return concat(count,
                " activations are recomputed in the backward pass: ", bytesText(plan.peakBytes),
                " at the peak instead of ", bytesText(whole.peakBytes), ", ",
                secondsText(plan.seconds), " per step instead of ", secondsText(whole.seconds),
                "; the bound covers all plans within this budget whose recomputed values keep "
                "their original layout");
}

namespace {

// A search with its question.
class PlanSearch {
public:
  PlanSearch(const Step &step, const cluster::Cluster &cluster, const PlannerOptions &options,
             const Goal &goal, PinnedRemat pinned, Seen &seen)
      : step_(step), cluster_(cluster), options_(options), goal_(goal), pinned_(std::move(pinned)),
        seen_(seen) {}

  Result<PlannedStep> run() {
    const RematPolicy kept = policyOf(step_.model(), pinned_);
    const Trials trials(step_, cluster_, options_, goal_, seen_);
    const bool hasSpaces = options_.spaces.any();
    if (isDetermined(pinned_) && !hasSpaces)
      return trials.plan(kept, trials.within(goal_.whenTooLarge));
    const SpaceSearch spaces(step_, cluster_, options_, goal_, pinned_, seen_);
    Result<PlannedStep> free = spaces.pinned(kept, trials.within(WhenTooLarge::Stop));
    CLEAVE_TRY(unlessInfeasible(free.status()));
    if (free || !options_.budget.isLimited())
      return free;
    Result<PlannedStep> found = hasSpaces ? spaces.offloaded() : inBudget(std::move(free));
    if (found)
      found->recomputation = recomputationText(found->plan, *seen_.whole);
    return found;
  }

private:
  // In device memory, where the fastest plan that keeps everything does not fit: `free` says so.
  Result<PlannedStep> inBudget(Result<PlannedStep> free) {
    CLEAVE_TRY_ASSIGN(const std::vector<JointMesh> meshes,
                      jointMeshes(step_.model(), cluster_, options_, pinned_));
    if (meshes.empty())
      return free; // memory is not the reason
    CLEAVE_TRY_ASSIGN(const cluster::Cluster shared, cluster::forRanks(cluster_, options_.ranks));
    const double bound = meshes[0].boundSeconds; // they are in rising order
    if (bound == solver::kForbidden) {
      const Trials trials(step_, cluster_, options_, goal_, seen_);
      return BudgetSearch(trials, pinned_, shared).refuse(meshes);
    }
    Proven proven{bound, {}};
    for (const JointMesh &mesh : meshes)
      proven.meshes.emplace_back(mesh.mesh, mesh.boundSeconds);
    const Trials trials(step_, cluster_, options_, goal_, seen_, std::move(proven));
    BudgetSearch search(trials, pinned_, shared);
    return options_.pins.recompute() == Recompute::ShardingFirst ? search.shardingFirst()
                                                                 : search.jointly(meshes);
  }

  const Step &step_;
  const cluster::Cluster &cluster_;
  const PlannerOptions &options_;
  Goal goal_;
  PinnedRemat pinned_;
  Seen &seen_;
};

} // namespace

Result<PlannedStep> searchPlan(const Step &step, const cluster::Cluster &cluster,
                               const PlannerOptions &options, const Goal &goal, Seen &seen) {
  CLEAVE_TRY_ASSIGN(PinnedRemat pinned, pinnedRemat(step.model(), options.pins, options.spaces));
  if (!options.spaces.any())
    return PlanSearch(step, cluster, options, goal, std::move(pinned), seen).run();
  CLEAVE_TRY_ASSIGN(const std::unique_ptr<Step> realised, realisePinned(step, pinned));
  return PlanSearch(*realised, cluster, options, goal, std::move(pinned), seen).run();
}

Result<PlannedStep> searchPlan(const Step &step, const cluster::Cluster &cluster,
                               const PlannerOptions &options) {
  Seen seen;
  return searchPlan(step, cluster, options, Goal(), seen);
}

} // namespace cleave::planner
