#include "passes/driver/GivenSolution.h"

#include "compiler/solver/Json.h"
#include "passes/driver/ModuleStep.h"
#include "runtime/base/FileWriter.h"
#include "runtime/base/RegularFile.h"

using namespace mlir;

namespace cleave::driver {

Status writeProblem(const std::string &path, ModuleOp module, const cluster::Cluster &cluster,
                    const planner::PlannerOptions &options) {
  CLEAVE_TRY_ASSIGN(planner::StepModel model, readModel(module));
  CLEAVE_TRY_ASSIGN(solver::Problem problem, planner::networkOf(model, cluster, options));
  return writeFile(path, solver::toJson(problem) + "\n");
}

Result<PlannedModule> planAsGiven(const std::string &path, ModuleOp module,
                                  const cluster::Cluster &cluster, planner::TrialOptions options) {
  CLEAVE_TRY_ASSIGN(std::string text, readRegularFile(path));
  CLEAVE_TRY_ASSIGN(std::vector<int> choices, solver::choicesFromJson(text).withContext(path));
  CLEAVE_TRY_ASSIGN(const ModuleStep step, ModuleStep::read(module));
  planner::PlannedStep planned;
  planned.policy = planner::keepAll(step.model());
  CLEAVE_TRY_ASSIGN(planned.step, step.realise(planned.policy));
  options.memoryOf = planner::memoryOf(*planned.step, cluster, options.budget);
  CLEAVE_TRY_ASSIGN(planned.plan,
                    planner::planOf(planned.step->model(), cluster, options, choices));
  return plannedModule(std::move(planned));
}

} // namespace cleave::driver
