#include "compiler/planner/search/SpaceSearch.h"

#include "compiler/planner/remat/RematPins.h"
#include "compiler/planner/search/OverlappedCopies.h"
#include "runtime/base/Units.h"

#include <utility>

namespace cleave::planner {

// The layouts that are best within this multiple of the budget are tried, then those for half of
// it, and so on.
static constexpr int64_t kMostTimes = 8;
// The shares of the copies' seconds that a plan is searched for: the others run beside computation.
static constexpr double kExposed[] = {1.0 / 16, 1.0 / 4, 1};

Result<std::unique_ptr<Step>> realisePinned(const Step &step, PinnedRemat &pinned) {
  const StepModel &model = step.model();
  if (!isDetermined(pinned)) { // rules on single ops stay rules
    RematPolicy policy = keepAll(model);
    policy.away = pinned.away;
    policy.arguments = pinned.arguments;
    return step.realise(policy);
  }
  CLEAVE_TRY_ASSIGN(std::unique_ptr<Step> realised, step.realise(policyOf(model, pinned)));
  PinnedRemat none(realised->model().ops.size());
  none.recomputed.assign(none.recomputed.size(), false);
  none.arguments = std::move(pinned.arguments);
  pinned = std::move(none);
  return realised;
}

SpaceSearch::SpaceSearch(const Step &step, const cluster::Cluster &cluster,
                         const PlannerOptions &options, const Goal &goal, const PinnedRemat &pinned,
                         Seen &seen)
    : step_(step), cluster_(cluster), options_(options), goal_(goal), pinned_(pinned), seen_(seen),
      kept_(policyOf(step.model(), pinned)) {}

// The faster of two plans, whose copies count with the least share and with all of their seconds.
// The first has the bound.
Result<PlannedStep> SpaceSearch::pinned(const RematPolicy &policy,
                                        const TrialOptions &options) const {
  if (!hasCopies(step_.model()))
    return Trials(step_, cluster_, options_, goal_, seen_).plan(policy, options);
  std::optional<PlannedStep> fastest;
  for (double exposed : {kLeastExposed, 1.0}) {
    const Trials trials(step_, withExposedCopies(cluster_, exposed), options_, goal_, seen_);
    Result<PlannedStep> found = trials.plan(policy, options);
    if (!found)
      return found;
    found->plan.boundSeconds =
        fastest ? fastest->plan.boundSeconds : found->plan.boundSeconds / (1 + exposed);
    CLEAVE_TRY_ASSIGN(const bool isHidden, overlap(*found, exposed));
    if (!fastest || found->plan.seconds < fastest->plan.seconds)
      fastest = std::move(*found);
    if (isHidden)
      break;
  }
  return std::move(*fastest);
}

Result<PlannedStep> SpaceSearch::offloaded() const {
  TrialOptions unlimited = options_;
  unlimited.budget = Budget::unlimited();
  CLEAVE_TRY_ASSIGN(const PlannedStep whole, pinned(kept_, unlimited));
  std::optional<PlannedStep> fastest;
  for (double exposed : kExposed) {
    CLEAVE_TRY_ASSIGN(std::optional<PlannedStep> best, offloadedAt(exposed, whole));
    if (!best)
      continue;
    CLEAVE_TRY_ASSIGN(const bool isHidden, overlap(*best, exposed));
    if (!fastest || best->plan.seconds < fastest->plan.seconds)
      fastest = std::move(best);
    if (isHidden)
      break;
  }
  if (fastest)
    return std::move(*fastest);
  return Status::infeasible(
      "no choice of layouts, recomputation and offloading was found that fits into ",
      bytesText(options_.budget.bytes()), " with ", bytesText(options_.spaces.host),
      " of host memory and ", bytesText(options_.spaces.file), " of a file");
}

// The best plan while a copy counts with a share of its seconds. `whole`: the fastest plan that
// keeps everything in device memory.
Result<std::optional<PlannedStep>> SpaceSearch::offloadedAt(double exposed,
                                                            const PlannedStep &whole) const {
  const Trials trials(step_, withExposedCopies(cluster_, exposed), options_, goal_, seen_,
                      Proven{whole.plan.boundSeconds, {}});
  RematSearch remat(trials, pinned_);
  CLEAVE_TRY_ASSIGN(const cluster::Cluster shared, trials.shared());
  Costs costs(step_.model(), shared, whole.plan.mesh);
  CLEAVE_TRY(remat.search({costs, whole.plan}));
  for (int64_t times = kMostTimes; times > 1 && !remat.isGood(); times /= 2)
    if (const int64_t larger = times * trials.budget(); larger < whole.plan.arenaBytes)
      CLEAVE_TRY(searchOn(trials, larger, remat));
  return remat.takeBest();
}

// Uses other spaces with the layouts that are best within a larger budget.
Status SpaceSearch::searchOn(const Trials &trials, int64_t larger, RematSearch &remat) const {
  TrialOptions options = trials.within(WhenTooLarge::Search);
  options.budget = larger;
  options.cutoffSeconds = remat.cutoff();
  const Result<PlannedStep> base = trials.plan(kept_, options);
  CLEAVE_TRY(unlessInfeasible(base.status()));
  if (!base)
    return Status::ok();
  CLEAVE_TRY_ASSIGN(const cluster::Cluster shared, trials.shared());
  Costs costs(step_.model(), shared, base->plan.mesh);
  return remat.search({costs, base->plan});
}

// Sets the seconds of a plan that counts its copies with this share. Returns whether computation
// takes longer.
Result<bool> SpaceSearch::overlap(PlannedStep &planned, double exposed) const {
  CLEAVE_TRY_ASSIGN(const cluster::Cluster shared, cluster::forRanks(cluster_, options_.ranks));
  return overlapCopies(planned.plan, planned.step->model(), shared, exposed);
}

} // namespace cleave::planner
