#include "compiler/planner/search/QuickPlan.h"

#include "compiler/planner/remat/RematPins.h"

#include <algorithm>
#include <utility>

namespace cleave::planner {

const QuickPoint *QuickPlan::within(const Budget &budget) const {
  const QuickPoint *best = nullptr;
  for (const QuickPoint &point : points)
    if (budget.holds(point.bytes) && (!best || point.seconds < best->seconds))
      best = &point;
  return best;
}

const QuickPoint &QuickPlan::smallest() const {
  return *std::min_element(
      points.begin(), points.end(),
      [](const QuickPoint &a, const QuickPoint &b) { return a.bytes < b.bytes; });
}

// The policies that are tried: keep everything, and the recipe, unless the user determines one.
static Result<std::vector<RematPolicy>> policiesToTry(const StepModel &model,
                                                      const PlannerOptions &options) {
  CLEAVE_TRY_ASSIGN(PinnedRemat pinned, pinnedRemat(model, options.pins, options.spaces));
  std::vector<RematPolicy> policies = {policyOf(model, pinned)};
  if (!isDetermined(pinned))
    policies.push_back(withPinned(model, fullRecompute(model), pinned));
  return policies;
}

Result<QuickPlan> quickPlan(const Step &step, const cluster::Cluster &cluster,
                            PlannerOptions options) {
  CLEAVE_TRY_ASSIGN(std::vector<RematPolicy> policies, policiesToTry(step.model(), options));
  const Budget budget = std::exchange(options.budget, Budget::unlimited());
  options.maxReasons = 0;
  std::vector<Pins> layouts = {options.pins};
  if (!options.pins.restrictsLayouts() && options.ranks > 1) {
    CLEAVE_TRY_ASSIGN(Pins zero3, Pins::parse("zero3"));
    layouts.push_back(std::move(zero3));
  }
  QuickPlan quick;
  for (const Pins &pins : layouts)
    for (const RematPolicy &policy : policies) {
      options.pins = pins;
      Result<PlannedStep> found = planWithPolicy(step, policy, cluster, options);
      const bool isFirst = quick.points.empty();
      if (!found && (isFirst || found.status().kind() != StatusKind::Infeasible))
        return found.status();
      if (!found)
        continue;
      const PlanReport &plan = found->plan;
      const std::string layout = &pins == &layouts[0] ? "" : pins.name();
      const std::string recompute = &policy == &policies[0] ? "" : "full-recompute";
      const std::string comma = layout.empty() || recompute.empty() ? "" : ",";
      quick.points.push_back(
          {plan.seconds, plan.arenaBytes, plan.mesh.str(), concat(layout, comma, recompute)});
      if (isFirst)
        quick.boundSeconds = plan.boundSeconds;
      if (isFirst && budget.holds(plan.arenaBytes))
        return quick;
    }
  return quick;
}

} // namespace cleave::planner
