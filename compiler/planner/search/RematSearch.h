// RematSearch: a policy for given layouts, such that the realised step just fits the budget.
//
// The network that chooses a policy (ChooseRemat.h) counts other bytes than the program has. It is
// solved a few times with a corrected target, and with smaller targets where these promise to be
// faster. The fastest plan that fits is kept.
#pragma once

#include "compiler/planner/remat/ChooseRemat.h"
#include "compiler/planner/search/Trials.h"

#include <optional>
#include <vector>

namespace cleave::planner {

// Layouts to search a policy for.
struct GivenLayouts {
  Costs &costs; // on their mesh
  // Decisions that keep everything.
  const PricedDecisions &plan;
  // All ops but the recomputed ones stay as in `plan`; else only the mesh does, and such plans show
  // how much a policy saves, but are not kept.
  bool isAround = true;
  int maxRecomputations = 1; // of one op at most
};

// Searches in the budget of the trials. Keeps references to the constructor's arguments.
class RematSearch {
public:
  RematSearch(const Trials &trials, const PinnedRemat &pinned);

  // Chooses policies for targets around the budget until the realised step just fits. `first`: the
  // policy for the first target, if it is known.
  Status search(const GivenLayouts &layouts, std::optional<ChosenRemat> first = {});
  // Plans with this policy, and the pinned decisions in place of its own, on the mesh and without a
  // limit. Returns the bytes that are left of the budget; negative: the bytes that are missing.
  Result<int64_t> tryOn(const Mesh &mesh, const RematPolicy &policy);
  // The best policy that was tried: the fastest that fits, or else the one that misses the fewest
  // bytes.
  const RematPolicy &bestTried() const;

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
  // A policy that was realised and planned.
  struct Tried {
    RematPolicy policy;
    int64_t slack = 0;  // bytes of the budget that are left
    double seconds = 0; // per step
    bool isAround = false;
  };
  static bool isBetter(const Tried &a, const Tried &b);

  bool hasSpaces() const { return trials_.options().spaces.any(); }
  int64_t firstTarget() const;
  int64_t leastSlack() const;
  Result<ChosenRemat> choose(const GivenLayouts &layouts, int64_t target,
                             const solver::SolveOptions &limits) const;
  bool isNoFaster(const PricedDecisions &plan, const ChosenRemat &chosen) const;
  Status searchLess(const GivenLayouts &layouts, int64_t target);
  Result<int64_t> tryPolicy(const Mesh &mesh, const RematPolicy &chosen,
                            const PricedDecisions *around);
  int64_t slackOf(const PlanReport &plan);

  const Trials &trials_;
  const PinnedRemat &pinned_;
  OtherSpaces others_; // that policies are chosen for
  std::vector<Tried> tried_;
  std::optional<PlannedStep> best_; // the fastest plan that fits
};

} // namespace cleave::planner
