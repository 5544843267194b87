#include "passes/driver/ModuleStep.h"

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

Result<ModuleStep> ModuleStep::read(ModuleOp module) {
  CLEAVE_TRY_ASSIGN(planner::StepModel model, readModel(module));
  return ModuleStep(module.clone(), std::move(model));
}

Result<std::unique_ptr<planner::Step>>
ModuleStep::realise(const planner::RematPolicy &policy) const {
  OwningOpRef<ModuleOp> copy = module_.get().clone();
  planner::StepModel model = model_;
  if (remat::realise(graph::stepOf(*copy), model_, policy) > 0) {
    schedule::orderParts(graph::stepOf(*copy));
    CLEAVE_TRY_ASSIGN(model, readModel(*copy));
  }
  return std::unique_ptr<planner::Step>(new ModuleStep(std::move(copy), std::move(model)));
}

Result<planner::ProgramMemory> ModuleStep::memory(const planner::Decisions &decisions,
                                                  const cluster::Cluster &shared,
                                                  const planner::Budget &budget) const {
  return memoryOf(*module_, model_, decisions, shared, budget);
}

} // namespace cleave::driver
