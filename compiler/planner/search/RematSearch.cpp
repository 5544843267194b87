#include "compiler/planner/search/RematSearch.h"

#include "compiler/planner/remat/RematPins.h"
#include "compiler/planner/search/MemoryTarget.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace cleave::planner {

// The most targets that a policy is chosen for.
static constexpr int kTargets = 6;
// Targets differ by a share of the budget at least, by the larger one with a gap below kCloseGap.
static constexpr int64_t kFine = 200, kCoarse = 50;
static constexpr double kCloseGap = 0.02;
// With a gap below this a plan is good.
static constexpr double kGoodGap = 0.05;
// How often a policy for less than the budget is tried, where it promises to be faster, and the
// share of the budget that is left out each time.
static constexpr int kLessRounds = 12;
static constexpr int64_t kLess = 80;
// Where values found no places in another space, this share less of its bytes is used.
static constexpr int64_t kGaps = 20;

RematSearch::RematSearch(const Trials &trials, const PinnedRemat &pinned)
    : trials_(trials), pinned_(pinned), others_(trials.options().spaces) {}

Status RematSearch::search(const GivenLayouts &layouts, std::optional<ChosenRemat> first) {
  MemoryTarget target(firstTarget(), trials_.budget() / kFine);
  for (int round = 0; round < kTargets && !target.isClosed(); ++round) {
    const Result<ChosenRemat> chosen =
        first ? Result<ChosenRemat>(*std::exchange(first, std::nullopt))
              : choose(layouts, target.bytes(), trials_.options().solve);
    CLEAVE_TRY(unlessInfeasible(chosen.status()));
    if (!chosen || isNoFaster(layouts.plan, *chosen))
      return Status::ok();
    CLEAVE_TRY_ASSIGN(const int64_t slack, tryPolicy(layouts.costs.mesh(), chosen->policy,
                                                     layouts.isAround ? &layouts.plan : nullptr));
    if (best_ && trials_.goal().isAnyEnough)
      return Status::ok();
    target.record(slack);
    if (slack >= 0 ? slack < leastSlack() : !chosen->isFitting)
      break;
    // Half of the least slack is left, so that a plan that differs a little fits.
    target.correct(slack, chosen->peakBytes, leastSlack() / 2);
  }
  return target.fitting() > 0 && !hasSpaces() ? searchLess(layouts, target.fitting())
                                              : Status::ok();
}

Result<int64_t> RematSearch::tryOn(const Mesh &mesh, const RematPolicy &policy) {
  return tryPolicy(mesh, policy, nullptr);
}

const RematPolicy &RematSearch::bestTried() const {
  assert(!tried_.empty() && "a policy is tried first");
  return std::min_element(tried_.begin(), tried_.end(), isBetter)->policy;
}

bool RematSearch::isBetter(const Tried &a, const Tried &b) {
  return a.slack >= 0 && b.slack >= 0 ? a.seconds < b.seconds : a.slack > b.slack;
}

Status RematSearch::keepBest(Result<PlannedStep> planned) {
  if (planned && planned->plan.seconds < cutoff())
    best_ = std::move(*planned);
  return unlessInfeasible(planned.status());
}

bool RematSearch::isGood() const {
  return best_ && (trials_.goal().isAnyEnough || best_->plan.gap < kGoodGap);
}

// The memory for which a policy is chosen first. With other spaces, a little less than the budget
// costs next to nothing, and fits at once.
int64_t RematSearch::firstTarget() const {
  const int64_t budget = trials_.budget();
  return hasSpaces() ? budget - budget / kFine : budget;
}

// With fewer bytes of the budget left, no other target is tried.
int64_t RematSearch::leastSlack() const {
  const bool isClose = best_ && best_->plan.gap < kCloseGap;
  return trials_.budget() / (isClose || hasSpaces() ? kCoarse : kFine);
}

Result<ChosenRemat> RematSearch::choose(const GivenLayouts &layouts, int64_t target,
                                        const solver::SolveOptions &limits) const {
  return chooseRemat(layouts.costs, layouts.plan, pinned_, {target, others_}, limits,
                     layouts.maxRecomputations);
}

// Whether a policy that fits makes the plan as slow as the best one.
bool RematSearch::isNoFaster(const PricedDecisions &plan, const ChosenRemat &chosen) const {
  return best_ && chosen.isFitting && plan.seconds + chosen.seconds >= best_->plan.seconds;
}

// The network does not know the whole cost of a recomputation. So a policy for less memory may lead
// to a faster plan than the one for `target`: it is tried as long as the network says so.
Status RematSearch::searchLess(const GivenLayouts &layouts, int64_t target) {
  const int64_t less = trials_.budget() / kLess;
  solver::SolveOptions limits = trials_.options().solve;
  for (int round = 0; round < kLessRounds && best_ && target > less; ++round) {
    target -= less;
    limits.cutoff = best_->plan.seconds - layouts.plan.seconds;
    const Result<ChosenRemat> chosen = choose(layouts, target, limits);
    CLEAVE_TRY(unlessInfeasible(chosen.status()));
    if (!chosen || !chosen->isFitting || isNoFaster(layouts.plan, *chosen))
      break;
    CLEAVE_TRY(
        tryPolicy(layouts.costs.mesh(), chosen->policy, layouts.isAround ? &layouts.plan : nullptr)
            .status());
  }
  return Status::ok();
}

Result<int64_t> RematSearch::tryPolicy(const Mesh &mesh, const RematPolicy &chosen,
                                       const PricedDecisions *around) {
  RematPolicy policy = withPinned(trials_.model(), chosen, pinned_);
  for (const Tried &tried : tried_)
    if (tried.policy == policy && tried.isAround == (around != nullptr))
      return tried.slack;
  Result<PlannedStep> planned = around ? trials_.planAround(policy, *around)
                                       : trials_.plan(policy, onMesh(trials_.withoutLimit(), mesh));
  if (around && planned.status().kind() == StatusKind::Infeasible)
    return -trials_.budget(); // these layouts may permit another policy
  CLEAVE_TRY(planned.status());
  const int64_t slack = slackOf(planned->plan);
  tried_.push_back({std::move(policy), slack, planned->plan.seconds, around != nullptr});
  if (around && slack >= 0) {
    planned->around = *around;
    CLEAVE_TRY(keepBest(std::move(planned)));
  }
  return slack;
}

// The bytes of the budget that a plan leaves. If its values in another space exceed the bytes
// there, because their places have gaps, fewer are used from now on, and some bytes are missing.
int64_t RematSearch::slackOf(const PlanReport &plan) {
  const int64_t budget = trials_.budget();
  const int64_t slack = budget - ProgramMemory{plan.peakBytes, plan.arenaBytes}.forBudget(budget);
  if (trials_.options().spaces.hold(plan.hostBytes, plan.fileBytes))
    return slack;
  others_.host -= others_.host / kGaps;
  others_.file -= others_.file / kGaps;
  return std::min(slack, -budget / kFine);
}

} // namespace cleave::planner
