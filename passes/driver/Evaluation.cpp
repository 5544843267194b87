// See Evaluation.h.
#include "passes/driver/Evaluation.h"

#include "dialects/graph/Step.h"
#include "dialects/program/Program.h"
#include "passes/driver/Diagnostics.h"
#include "passes/driver/ModuleStep.h"
#include "passes/driver/Record.h"
#include "passes/driver/Variants.h"
#include "passes/shard/Annotate.h"
#include "passes/simplify/Simplify.h"
#include "passes/train/Train.h"

#include <set>

using namespace mlir;

namespace cleave::driver {

Status makeEvaluation(Compilation &c, const train::TrainOptions &options) {
  Unit unit{plan::Program::EVALUATION, c.module().clone()};
  dropProgress(*unit.module);
  func::FuncOp step = graph::stepOf(*unit.module);
  DiagnosticText diagnostics(*c.context);
  if (failed(train::buildEvaluation(step, options)) ||
      failed(simplify::simplify(step, simplify::Composites::Leave)))
    return Status::userError(diagnostics.text());
  c.units.push_back(std::move(unit));
  return Status::ok();
}

Status addAverages(Compilation &c) {
  DiagnosticText diagnostics(*c.context);
  func::FuncOp evaluation = graph::stepOf(*c.units.back().module);
  train::evaluateAverages(evaluation, graph::stepOf(c.module()));
  return succeeded(simplify::simplify(evaluation, simplify::Composites::Leave))
             ? Status::ok()
             : Status::userError(diagnostics.text());
}

// The names of the axes that split each dim.
static std::vector<std::vector<std::string>> namesOf(const Sharding &layout, const Mesh &mesh) {
  std::vector<std::vector<std::string>> names;
  for (const std::vector<int> &axes : layout.dims) {
    names.emplace_back();
    for (int axis : axes)
      names.back().push_back(mesh.axes[size_t(axis)].name);
  }
  return names;
}

// The layouts of an argument of the step, as a rule for the same argument of another unit.
static planner::NamePin pinOf(const planner::Argument &argument,
                              const planner::ArgumentDecision &decision, const Mesh &mesh) {
  return {.name = argument.name,
          .op = "",
          .layout = namesOf(decision.storage, mesh),
          .use = namesOf(decision.compute, mesh)};
}

static bool isInput(const planner::Argument &argument) {
  return argument.role == Role::Input || argument.role == Role::Label;
}

std::vector<planner::NamePin> pinsOfInputs(const planner::StepModel &model,
                                           const planner::PlanReport &step) {
  std::vector<planner::NamePin> pins;
  for (size_t i = 0; i < model.arguments.size(); ++i)
    if (isInput(model.arguments[i]))
      pins.push_back(pinOf(model.arguments[i], step.arguments[i], step.mesh));
  return pins;
}

Result<planner::PlanReport> planEvaluation(const Compilation &c, Unit &unit,
                                           const cluster::Cluster &cluster,
                                           const planner::StepModel &model,
                                           const planner::PlanReport &step,
                                           ArrayRef<planner::NamePin> others) {
  CLEAVE_TRY_ASSIGN(const ModuleStep read, ModuleStep::read(*unit.module));
  const planner::StepModel &evaluation = read.model();
  std::set<std::string> used;
  for (const planner::Argument &argument : evaluation.arguments)
    used.insert(argument.name);
  CLEAVE_TRY_ASSIGN(planner::TrialOptions options, plannerOptions(c.options, cluster));
  options.ranks = step.mesh.ranks();
  options.mesh = step.mesh;
  options.budget = step.budget;
  options.memoryOf = planner::memoryOf(read, cluster, planner::Budget::unlimited());
  std::vector<planner::NamePin> pins;
  for (size_t i = 0; i < model.arguments.size(); ++i) {
    const planner::Argument &argument = model.arguments[i];
    const planner::ArgumentDecision &decision = step.arguments[i];
    if (argument.role == Role::Received) // is not that of the evaluation with this name
      continue;
    if (used.contains(argument.name))
      pins.push_back(pinOf(argument, decision, step.mesh));
    else if (!isInput(argument))
      options.budget = options.budget.without(
          planner::localBytes(model.values[size_t(argument.value)], decision.storage, step.mesh));
  }
  for (const planner::NamePin &other : others)
    if (used.contains(other.name) &&
        llvm::none_of(pins, [&](const planner::NamePin &pin) { return pin.name == other.name; }))
      pins.push_back(other);
  options.pins = planner::Pins::ofRules(std::move(pins));
  Result<planner::PlanReport> plan = planner::planStep(evaluation, cluster, options);
  if (plan.status().kind() == StatusKind::Infeasible && c.options.leastMemory) {
    options.budget = planner::Budget::unlimited(); // takes more than the least of the training
    plan = planner::planStep(evaluation, cluster, options);
  }
  CLEAVE_TRY(plan.status());
  shard::annotate(graph::stepOf(*unit.module), static_cast<const planner::Decisions &>(*plan));
  return plan;
}

} // namespace cleave::driver
