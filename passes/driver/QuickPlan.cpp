#include "passes/driver/QuickPlan.h"

#include "compiler/planner/remat/FatePins.h"
#include "compiler/planner/search/PlannedStep.h"
#include "passes/driver/ModuleStep.h"

#include <algorithm>
#include <utility>

using namespace mlir;

namespace cleave::driver {

const QuickPoint *QuickPlan::within(const planner::Budget &budget) const {
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

// The fates that are tried: nothing again, and the recipe, unless the user determines them.
static Result<std::vector<planner::Fates>> fatesToTry(const planner::StepModel &model,
                                                      const planner::PlannerOptions &options) {
  CLEAVE_TRY_ASSIGN(planner::ForcedFates forced,
                    planner::forcedFates(model, options.pins, options.spaces));
  std::vector<planner::Fates> fates = {planner::fatesOf(model, forced)};
  if (!planner::isDetermined(forced))
    fates.push_back(planner::withForced(model, planner::fullRecompute(model), forced));
  return fates;
}

Result<QuickPlan> quickPlan(ModuleOp module, const cluster::Cluster &cluster,
                            planner::PlannerOptions options) {
  CLEAVE_TRY_ASSIGN(const ModuleStep step, ModuleStep::read(module));
  CLEAVE_TRY_ASSIGN(std::vector<planner::Fates> fates, fatesToTry(step.model(), options));
  const planner::Budget budget = std::exchange(options.budget, planner::Budget::unlimited());
  options.maxReasons = 0;
  std::vector<planner::Pins> layouts = {options.pins};
  if (!options.pins.restrictsLayouts() && options.ranks > 1) {
    CLEAVE_TRY_ASSIGN(planner::Pins zero3, planner::Pins::parse("zero3"));
    layouts.push_back(std::move(zero3));
  }
  QuickPlan quick;
  for (const planner::Pins &pins : layouts)
    for (const planner::Fates &fate : fates) {
      options.pins = pins;
      Result<planner::PlannedStep> found = planner::planWithFates(step, fate, cluster, options);
      const bool isFirst = quick.points.empty();
      if (!found && (isFirst || found.status().kind() != StatusKind::Infeasible))
        return found.status();
      if (!found)
        continue;
      const planner::Plan &plan = found->plan;
      const std::string layout = &pins == &layouts[0] ? "" : pins.name();
      const std::string recompute = &fate == &fates[0] ? "" : "full-recompute";
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

} // namespace cleave::driver
