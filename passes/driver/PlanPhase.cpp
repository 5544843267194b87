#include "passes/driver/PlanPhase.h"

#include "compiler/planner/search/LeastMemory.h"
#include "compiler/solver/Json.h"
#include "dialects/graph/Step.h"
#include "passes/driver/DescribePlan.h"
#include "passes/driver/Evaluation.h"
#include "passes/driver/GivenSolution.h"
#include "passes/driver/LeastRanks.h"
#include "passes/driver/ModuleStep.h"
#include "passes/driver/Pareto.h"
#include "passes/driver/PlanProgress.h"
#include "passes/driver/Record.h"
#include "passes/driver/Stages.h"
#include "passes/driver/Units.h"
#include "passes/driver/WaysOut.h"
#include "passes/driver/WhatIf.h"
#include "passes/shard/Annotate.h"
#include "runtime/base/FileWriter.h"

using namespace mlir;

namespace cleave::driver {

// --dump-phases: writes the planner's cost networks, which cleave-solve reads.
static Status writeNetwork(const std::string &folder, const Mesh &mesh,
                           const solver::Problem &problem) {
  std::string path = folder + "/network-" + mesh.str() + ".json";
  return writeFile(path, solver::toJson(problem));
}

// --dump-phases: writes the planner's plan with every decision as a remark.
static Status writeDecisions(const std::string &folder, const planner::PlanReport &plan,
                             const planner::StepModel &model) {
  std::string path = folder + "/planner.json";
  return writeFile(path, planner::toJson(plan, model));
}

// The plan for the options as they are.
static Result<PlannedModule> planAsAsked(Compilation &c) {
  CLEAVE_TRY(loadCluster(c));
  CLEAVE_TRY_ASSIGN(planner::PlannerOptions options, plannerOptions(c.options, *c.cluster));
  showProgress(c, "", options);
  if (!c.options.dumpPhases.empty())
    options.onNetwork = [&](const Mesh &mesh, const solver::Problem &problem) {
      return writeNetwork(c.options.dumpPhases, mesh, problem);
    };
  if (!c.options.problem.empty())
    CLEAVE_TRY(
        writeProblem(c.options.problem, c.module(), *c.cluster, options).withContext("--problem"));
  if (!c.options.solution.empty() && c.options.leastMemory)
    return Status::userError("--solution: its memory is known, so --memory least has nothing to "
                             "search; leave one of them out");
  if (!c.options.solution.empty())
    return planAsGiven(c.options.solution, c.module(), *c.cluster, std::move(options))
        .withContext("--solution");
  CLEAVE_TRY_ASSIGN(const ModuleStep step, ModuleStep::read(c.module()));
  if (!c.options.leastMemory) {
    CLEAVE_TRY_ASSIGN(planner::PlannedStep planned,
                      planner::searchOrRefuse(step, *c.cluster, std::move(options)));
    return plannedModule(std::move(planned));
  }
  CLEAVE_TRY_ASSIGN(planner::LeastMemory least,
                    planner::leastMemory(step, *c.cluster, std::move(options),
                                         [&](const std::string &result) { c.tell(result); }));
  c.options.memory = least.bytes;
  c.remarks.push_back({"memory", least.remark});
  return plannedModule(std::move(least.planned));
}

// Decides for the least number of ranks on which the step fits.
static Result<PlannedModule> planOnLeastRanks(Compilation &c, Variants &variants) {
  CLEAVE_TRY_ASSIGN(LeastRanks least, leastRanks(variants, c.options));
  c.options.ranks = least.ranks;
  c.remarks.push_back({"ranks", least.remark});
  return std::move(least.planned);
}

// Writes both files anew after each point: a search that is interrupted leaves what it has found.
static Status writePareto(Compilation &c, Variants &variants) {
  CLEAVE_TRY_ASSIGN(planner::Budget budget, variants.budget(c.options));
  const std::string title =
      concat(c.options.model.substr(c.options.model.find_last_of('/') + 1), " on ", c.options.ranks,
             c.options.ranks == 1 ? " rank" : " ranks", " of ", c.options.cluster);
  auto write = [&](const std::vector<ParetoPoint> &points) {
    CLEAVE_TRY(writeFile(c.options.pareto + ".csv", paretoCsv(points)));
    return writeFile(c.options.pareto + ".svg", paretoSvg(points, budget, title));
  };
  return paretoPoints(variants, c.options, write).status().withContext("--pareto");
}

Status runPlanPhase(Compilation &c) {
  if (c.options.stages > 1)
    return planStages(c);
  Variants variants(c);
  Result<PlannedModule> planned =
      c.options.leastRanks ? planOnLeastRanks(c, variants) : planAsAsked(c);
  if (planned.status().kind() == StatusKind::Infeasible && c.options.solution.empty())
    return Status::infeasible(planned.status().message(), waysOut(variants, c.options));
  CLEAVE_TRY(planned.status());
  if (c.options.solution.empty()) // a given solution need not be the best plan
    CLEAVE_TRY(variants.remember(c.options, planned->plan));
  if (!c.options.pareto.empty())
    CLEAVE_TRY(writePareto(c, variants));
  if (c.options.whatIf) {
    CLEAVE_TRY_ASSIGN(c.variants, whatIf(variants, c.options, planned->plan));
  }
  c.setModule(std::move(planned->module));
  c.report = std::move(planned->plan);
  if (!planned->recomputation.empty())
    c.remarks.push_back({"recompute", planned->recomputation});
  if (!c.options.dumpPhases.empty())
    CLEAVE_TRY(writeDecisions(c.options.dumpPhases, c.report, planned->model));
  shard::annotate(graph::stepOf(c.module()), c.report);
  plan::Plan described;
  CLEAVE_TRY(describePlan(c, planned->model, described));
  recordDecisions(c.module(), described);
  suggestLowType(c, described);
  return forEachUnit(c, [&](Unit &unit) {
    return unit.kind == plan::Program::STEP
               ? Status::ok()
               : planEvaluation(c, unit, *c.cluster, planned->model, c.report).status();
  });
}

} // namespace cleave::driver
