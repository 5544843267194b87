// FateSearch: fates for layouts that are given, such that the realised step just fits the budget.
//
// The choice of fates (ChooseFates.h) counts other bytes than the program has. It is repeated a few
// times with a corrected target, and with smaller targets where these promise to be faster. The
// fastest plan that fits is kept.
#pragma once

#include "compiler/planner/remat/ChooseFates.h"
#include "compiler/planner/search/Trials.h"

#include <optional>
#include <vector>

namespace cleave::planner {

// Layouts to search fates for.
struct GivenLayouts {
  Costs &costs; // on their mesh
  // Decisions that keep everything.
  const PricedDecisions &plan;
  // All ops but the repetitions stay as in `plan`; else only the mesh does, and such plans show how
  // much the fates save, but are not kept.
  bool isAround = true;
  int repetitions = 1; // of one op at most
};

// Searches in the budget of the trials. Keeps references to the constructor's arguments.
class FateSearch {
public:
  FateSearch(const Trials &trials, const ForcedFates &forced);

  // Chooses fates for targets around the budget until the realised step just fits. `first`: those
  // for the first target, if they are known.
  Status search(const GivenLayouts &layouts, std::optional<ChosenFates> first = {});
  // Plans with these fates, but for forced ones, on the mesh and without a limit. Returns the bytes
  // that are left of the budget; negative: the bytes that are missing.
  Result<int64_t> tryOn(const Mesh &mesh, const Fates &fates);
  // The best fates that were tried: the fastest that fit, or else those that miss the fewest bytes.
  const Fates &bestTried() const;

  // The best plan so far.
  const std::optional<PlannedStep> &best() const { return best_; }
  std::optional<PlannedStep> takeBest() { return std::exchange(best_, std::nullopt); }
  // Keeps a plan if it beats the best one. Fails as it failed, unless it only did not fit.
  Status keepBest(Result<PlannedStep> planned);
  // Seconds per step that another plan must beat.
  double cutoff() const { return best_ ? best_->plan.seconds : solver::kForbidden; }
  // Whether the best plan is so close to its bound that others are not worth a search.
  bool isGood() const;

private:
  // Fates that were realised and planned.
  struct Tried {
    Fates fates;
    int64_t slack = 0;  // bytes of the budget that are left
    double seconds = 0; // per step
    bool isAround = false;
  };
  static bool isBetter(const Tried &a, const Tried &b);

  bool hasSpaces() const { return trials_.options().spaces.any(); }
  int64_t firstTarget() const;
  int64_t leastSlack() const;
  Result<ChosenFates> choose(const GivenLayouts &layouts, int64_t target,
                             const solver::SolveOptions &limits) const;
  bool isNoFaster(const PricedDecisions &plan, const ChosenFates &chosen) const;
  Status searchLess(const GivenLayouts &layouts, int64_t target);
  Result<int64_t> tryFates(const Mesh &mesh, const Fates &chosen, const PricedDecisions *around);
  int64_t slackOf(const PlanReport &plan);

  const Trials &trials_;
  const ForcedFates &forced_;
  OtherSpaces others_; // for what fates are chosen
  std::vector<Tried> tried_;
  std::optional<PlannedStep> best_; // the fastest plan that fits
};

} // namespace cleave::planner
