#include "passes/driver/PlanFates.h"

#include "compiler/planner/model/ReadStep.h"
#include "dialects/graph/Step.h"
#include "passes/bufferize/Stores.h"
#include "passes/driver/Diagnostics.h"
#include "passes/driver/PlannedProgram.h"
#include "passes/remat/Realise.h"
#include "passes/schedule/Order.h"
#include "passes/schedule/Slots.h"

using namespace mlir;

namespace cleave::driver {

Result<planner::StepModel> readModel(ModuleOp module) {
  DiagnosticText diagnostics(*module.getContext());
  func::FuncOp step = graph::stepOf(module);
  FailureOr<planner::StepModel> model = planner::readStep(step);
  if (failed(model) || failed(bufferize::readStores(step, *model)))
    return Status::userError(diagnostics.text());
  const std::vector<graph::ScheduledAction> schedule = graph::scheduleOf(module);
  model->inFlight = schedule::slotCounts(schedule);
  if (model->inFlight.size() == 1)
    model->waiting = schedule::mostWaiting(schedule);
  return std::move(*model);
}

Result<Decided> realiseFates(ModuleOp module, const planner::StepModel &model,
                             const planner::Fates &fates) {
  Decided decided;
  decided.module = module.clone();
  decided.fates = fates;
  const size_t changes = remat::realise(graph::stepOf(*decided.module), model, fates);
  if (changes > 0) {
    schedule::orderParts(graph::stepOf(*decided.module));
    CLEAVE_TRY_ASSIGN(decided.model, readModel(*decided.module));
  } else {
    decided.model = model;
  }
  return decided;
}

planner::MemoryOf memoryOfPrograms(ModuleOp module, const planner::StepModel &model,
                                   const cluster::Cluster &cluster, const planner::Budget &budget) {
  return [=, &model,
          &cluster](const planner::Decisions &decisions) mutable -> Result<planner::ProgramMemory> {
    CLEAVE_TRY_ASSIGN(cluster::Cluster shared, cluster::forRanks(cluster, decisions.mesh.ranks()));
    return memoryOf(module, model, decisions, shared, budget);
  };
}

Result<Decided> planWithFates(ModuleOp module, const planner::StepModel &model,
                              const planner::Fates &fates, const cluster::Cluster &cluster,
                              planner::PlannerOptions options) {
  CLEAVE_TRY_ASSIGN(Decided decided, realiseFates(module, model, fates));
  options.memoryOf = memoryOfPrograms(*decided.module, decided.model, cluster, options.budget);
  CLEAVE_TRY_ASSIGN(decided.plan, planner::planStep(decided.model, cluster, options));
  return decided;
}

} // namespace cleave::driver
