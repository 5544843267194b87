#include "passes/driver/PlanModule.h"

#include "compiler/planner/search/SearchPlan.h"
#include "passes/driver/ModuleStep.h"

#include <utility>

namespace cleave::driver {

PlannedModule plannedModule(planner::PlannedStep planned) {
  auto &step = static_cast<ModuleStep &>(*planned.step);
  return {.module = step.takeModule(),
          .policy = std::move(planned.policy),
          .model = step.takeModel(),
          .plan = std::move(planned.plan),
          .around = std::move(planned.around),
          .recomputation = std::move(planned.recomputation)};
}

Result<PlannedModule> planModule(mlir::ModuleOp module, const cluster::Cluster &cluster,
                                 const planner::PlannerOptions &options, planner::Seen &seen) {
  CLEAVE_TRY_ASSIGN(const ModuleStep step, ModuleStep::read(module));
  CLEAVE_TRY_ASSIGN(planner::PlannedStep planned,
                    planner::searchPlan(step, cluster, options, {}, seen));
  return plannedModule(std::move(planned));
}

Result<PlannedModule> planModule(mlir::ModuleOp module, const cluster::Cluster &cluster,
                                 const planner::PlannerOptions &options) {
  planner::Seen seen;
  return planModule(module, cluster, options, seen);
}

} // namespace cleave::driver
