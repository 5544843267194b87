// The part of Decider for other spaces than device memory.
#include "passes/driver/Decider.h"

namespace cleave::driver {

// The layouts that are best within this multiple of the budget are tried, then those for half of
// it, and so on.
static constexpr int64_t kMostTimes = 8;
// The shares of the copies' seconds that a plan is searched for: the others run beside computation.
static constexpr double kExposed[] = {1.0 / 16, 1.0 / 4, 1};

Status Decider::realiseForced() {
  if (!options_.spaces.any())
    return Status::ok();
  const bool isDetermined = planner::isDetermined(*forced_);
  planner::Fates fates = planner::fatesOf(model_, *forced_);
  if (!isDetermined) { // rules on single ops stay rules
    fates = planner::keepAll(model_);
    fates.away = forced_->away;
    fates.arguments = forced_->arguments;
  }
  CLEAVE_TRY_ASSIGN(Decided realised, realiseFates(module_, model_, fates));
  realised_ = std::move(realised.module);
  module_ = *realised_;
  model_ = std::move(realised.model);
  if (isDetermined) {
    planner::ForcedFates none(model_.ops.size());
    none.again.assign(model_.ops.size(), false);
    none.arguments = forced_->arguments;
    forced_ = std::move(none);
  }
  return Status::ok();
}

Result<Decided> Decider::useSpaces(const planner::Fates &kept) {
  planner::PlannerOptions unlimited = options_;
  unlimited.budget = planner::Budget::unlimited();
  CLEAVE_TRY_ASSIGN(const Decided whole, planWithCopies(kept, unlimited));
  std::optional<Decided> fastest;
  for (double exposed : kExposed) {
    CLEAVE_TRY(useSpacesAt(exposed, kept, whole));
    if (!best_)
      continue;
    CLEAVE_TRY_ASSIGN(const bool isHidden, overlapCopies(*best_, exposed));
    if (!fastest || best_->plan.seconds < fastest->plan.seconds)
      fastest = std::exchange(best_, std::nullopt);
    if (isHidden)
      break;
  }
  if (fastest) {
    best_ = std::move(fastest);
    return finish();
  }
  return Status::infeasible(
      "no choice of layouts, of what is computed again and of what is kept elsewhere was found "
      "that fits into ",
      bytesText(budget_), " with ", bytesText(options_.spaces.host), " of host memory and ",
      bytesText(options_.spaces.file), " of a file");
}

Status Decider::useSpacesAt(double exposed, const planner::Fates &kept, const Decided &whole) {
  cluster_ = planner::withExposedCopies(given_, exposed);
  best_.reset();
  tried_.clear();
  others_ = options_.spaces;
  proven_ = planner::Proven{whole.plan.boundSeconds, {}};
  mesh_ = whole.plan.mesh;
  CLEAVE_TRY_ASSIGN(cluster::Cluster shared, cluster::forRanks(cluster_, options_.ranks));
  planner::Costs costs(model_, shared, *mesh_);
  CLEAVE_TRY(searchFates(costs, whole.plan, /*isAround=*/true));
  for (int64_t times = kMostTimes; times > 1 && !isGood(); times /= 2)
    CLEAVE_TRY(useSpacesOn(kept, times * budget_, whole.plan.arenaBytes));
  return Status::ok();
}

Result<bool> Decider::overlapCopies(Decided &decided, double exposed) const {
  CLEAVE_TRY_ASSIGN(cluster::Cluster shared, cluster::forRanks(given_, options_.ranks));
  return planner::overlapCopies(decided.plan, decided.model, shared, exposed);
}

Result<Decided> Decider::planWithCopies(const planner::Fates &fates,
                                        const planner::PlannerOptions &options) {
  if (!planner::hasCopies(model_))
    return planWith(fates, options);
  std::optional<Decided> fastest;
  for (double exposed : {planner::kLeastExposed, 1.0}) {
    cluster_ = planner::withExposedCopies(given_, exposed);
    Result<Decided> found = planWith(fates, options);
    if (!found)
      return found;
    found->plan.boundSeconds =
        fastest ? fastest->plan.boundSeconds : found->plan.boundSeconds / (1 + exposed);
    CLEAVE_TRY_ASSIGN(const bool isHidden, overlapCopies(*found, exposed));
    if (!fastest || found->plan.seconds < fastest->plan.seconds)
      fastest = std::move(*found);
    if (isHidden)
      break;
  }
  return std::move(*fastest);
}

Status Decider::useSpacesOn(const planner::Fates &kept, int64_t larger, int64_t most) {
  if (larger >= most)
    return Status::ok();
  planner::PlannerOptions options = within(WhenTooLarge::Search);
  options.budget = larger;
  options.cutoffSeconds = cutoff();
  Result<Decided> base = planWith(kept, options);
  CLEAVE_TRY(unlessInfeasible(base.status()));
  if (!base)
    return Status::ok();
  mesh_ = base->plan.mesh;
  CLEAVE_TRY_ASSIGN(cluster::Cluster shared, cluster::forRanks(cluster_, options_.ranks));
  planner::Costs costs(model_, shared, *mesh_);
  return searchFates(costs, base->plan, /*isAround=*/true);
}

} // namespace cleave::driver
