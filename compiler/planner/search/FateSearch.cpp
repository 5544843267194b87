#include "compiler/planner/search/FateSearch.h"

#include "compiler/planner/remat/FatePins.h"
#include "compiler/planner/search/MemoryTarget.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace cleave::planner {

// How many targets fates are chosen for.
static constexpr int kTargets = 6;
// Targets differ by a share of the budget at least, by the larger one with a gap below kCloseGap.
static constexpr int64_t kFine = 200, kCoarse = 50;
static constexpr double kCloseGap = 0.02;
// With a gap below this a plan is good.
static constexpr double kGoodGap = 0.05;
// How often fates for less than the budget are tried, and the share of it that is left out each
// time, where they promise to be faster.
static constexpr int kLessRounds = 12;
static constexpr int64_t kLess = 80;
// Where values found no places in another space, this share less of its bytes is used.
static constexpr int64_t kGaps = 20;

FateSearch::FateSearch(const Trials &trials, const ForcedFates &forced)
    : trials_(trials), forced_(forced), others_(trials.options().spaces) {}

Status FateSearch::search(const GivenLayouts &layouts, std::optional<ChosenFates> first) {
  MemoryTarget target(firstTarget(), trials_.budget() / kFine);
  for (int round = 0; round < kTargets && !target.isClosed(); ++round) {
    const Result<ChosenFates> chosen =
        first ? Result<ChosenFates>(*std::exchange(first, std::nullopt))
              : choose(layouts, target.bytes(), trials_.options().solve);
    CLEAVE_TRY(unlessInfeasible(chosen.status()));
    if (!chosen || isNoFaster(layouts.plan, *chosen))
      return Status::ok();
    CLEAVE_TRY_ASSIGN(const int64_t slack, tryFates(layouts.costs.mesh(), chosen->fates,
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

Result<int64_t> FateSearch::tryOn(const Mesh &mesh, const Fates &fates) {
  return tryFates(mesh, fates, nullptr);
}

const Fates &FateSearch::bestTried() const {
  assert(!tried_.empty() && "fates are tried first");
  return std::min_element(tried_.begin(), tried_.end(), isBetter)->fates;
}

bool FateSearch::isBetter(const Tried &a, const Tried &b) {
  return a.slack >= 0 && b.slack >= 0 ? a.seconds < b.seconds : a.slack > b.slack;
}

Status FateSearch::keepBest(Result<PlannedStep> planned) {
  if (planned && planned->plan.seconds < cutoff())
    best_ = std::move(*planned);
  return unlessInfeasible(planned.status());
}

bool FateSearch::isGood() const {
  return best_ && (trials_.goal().isAnyEnough || best_->plan.gap < kGoodGap);
}

// The memory for which fates are chosen first. With other spaces, a little less than the budget
// costs next to nothing, and fits at once.
int64_t FateSearch::firstTarget() const {
  const int64_t budget = trials_.budget();
  return hasSpaces() ? budget - budget / kFine : budget;
}

// With fewer bytes of the budget left, no other target is tried.
int64_t FateSearch::leastSlack() const {
  const bool isClose = best_ && best_->plan.gap < kCloseGap;
  return trials_.budget() / (isClose || hasSpaces() ? kCoarse : kFine);
}

Result<ChosenFates> FateSearch::choose(const GivenLayouts &layouts, int64_t target,
                                       const solver::SolveOptions &limits) const {
  return chooseFates(layouts.costs, layouts.plan, forced_, {target, others_}, limits,
                     layouts.repetitions);
}

// Whether repetitions that fit make the plan as slow as the best one.
bool FateSearch::isNoFaster(const PricedDecisions &plan, const ChosenFates &chosen) const {
  return best_ && chosen.isFitting && plan.seconds + chosen.seconds >= best_->plan.seconds;
}

// The network of fates does not know all that a repetition costs. So fates for less memory may lead
// to a faster plan than those for `target`: they are tried as long as the network says so.
Status FateSearch::searchLess(const GivenLayouts &layouts, int64_t target) {
  const int64_t less = trials_.budget() / kLess;
  solver::SolveOptions limits = trials_.options().solve;
  for (int round = 0; round < kLessRounds && best_ && target > less; ++round) {
    target -= less;
    limits.cutoff = best_->plan.seconds - layouts.plan.seconds;
    const Result<ChosenFates> chosen = choose(layouts, target, limits);
    CLEAVE_TRY(unlessInfeasible(chosen.status()));
    if (!chosen || !chosen->isFitting || isNoFaster(layouts.plan, *chosen))
      break;
    CLEAVE_TRY(
        tryFates(layouts.costs.mesh(), chosen->fates, layouts.isAround ? &layouts.plan : nullptr)
            .status());
  }
  return Status::ok();
}

Result<int64_t> FateSearch::tryFates(const Mesh &mesh, const Fates &chosen,
                                     const PricedDecisions *around) {
  Fates fates = withForced(trials_.model(), chosen, forced_);
  for (const Tried &tried : tried_)
    if (tried.fates == fates && tried.isAround == (around != nullptr))
      return tried.slack;
  Result<PlannedStep> planned = around ? trials_.planAround(fates, *around)
                                       : trials_.plan(fates, onMesh(trials_.withoutLimit(), mesh));
  if (around && planned.status().kind() == StatusKind::Infeasible)
    return -trials_.budget(); // these layouts may permit other fates
  CLEAVE_TRY(planned.status());
  const int64_t slack = slackOf(planned->plan);
  tried_.push_back({std::move(fates), slack, planned->plan.seconds, around != nullptr});
  if (around && slack >= 0) {
    planned->around = *around;
    CLEAVE_TRY(keepBest(std::move(planned)));
  }
  return slack;
}

// The bytes of the budget that a plan leaves. If its values in another space exceed the bytes
// there, because their places have gaps, fewer are used from now on, and some bytes are missing.
int64_t FateSearch::slackOf(const PlanReport &plan) {
  const int64_t budget = trials_.budget();
  const int64_t slack = budget - ProgramMemory{plan.peakBytes, plan.arenaBytes}.forBudget(budget);
  if (trials_.options().spaces.hold(plan.hostBytes, plan.fileBytes))
    return slack;
  others_.host -= others_.host / kGaps;
  others_.file -= others_.file / kGaps;
  return std::min(slack, -budget / kFine);
}

} // namespace cleave::planner
