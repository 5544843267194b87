// See Evaluation.h.
#include "passes/driver/Evaluation.h"

#include "dialects/graph/Step.h"
#include "dialects/program/Program.h"
#include "passes/driver/Diagnostics.h"
#include "passes/driver/PlanFates.h"
#include "passes/driver/Record.h"
#include "passes/driver/Variants.h"
#include "passes/shard/Annotate.h"
#include "passes/simplify/Simplify.h"
#include "passes/train/Train.h"

#include <nlohmann/json.hpp>
#include <set>

using namespace mlir;

namespace cleave::driver {

static constexpr StringLiteral kName = "evaluation";

Status makeEvaluation(Compilation &c, const train::TrainOptions &options) {
  c.evaluation = c.module->clone();
  dropProgress(*c.evaluation);
  func::FuncOp step = graph::stepOf(*c.evaluation);
  DiagnosticText diagnostics(*c.context);
  if (failed(train::buildEvaluation(step, options)) ||
      failed(simplify::simplify(step, simplify::Composites::Leave)))
    return Status::userError(diagnostics.text());
  return Status::ok();
}

Status addAverages(Compilation &c) {
  DiagnosticText diagnostics(*c.context);
  func::FuncOp evaluation = graph::stepOf(*c.evaluation);
  train::evaluateAverages(evaluation, graph::stepOf(*c.module));
  return succeeded(simplify::simplify(evaluation, simplify::Composites::Leave))
             ? Status::ok()
             : Status::userError(diagnostics.text());
}

Status onEvaluation(Compilation &c, llvm::function_ref<Status(Compilation &)> work) {
  if (!c.evaluation)
    return Status::ok();
  const Attribute device = (*c.module)->getAttr(program::kDevice);
  const size_t remarks = c.remarks.size();
  std::swap(c.module, c.evaluation);
  if (device)
    (*c.module)->setAttr(program::kDevice, device);
  Status status = work(c);
  std::swap(c.module, c.evaluation);
  c.remarks.erase(c.remarks.begin() + static_cast<std::ptrdiff_t>(remarks), c.remarks.end());
  return status.withContext("the evaluation of --eval");
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

Status planEvaluation(Compilation &c, const planner::StepModel &model) {
  return onEvaluation(c, [&](Compilation &) -> Status {
    CLEAVE_TRY_ASSIGN(planner::StepModel evaluation, readModel(*c.module));
    std::set<std::string> used;
    for (const planner::Argument &argument : evaluation.arguments)
      used.insert(argument.name);
    CLEAVE_TRY_ASSIGN(planner::PlannerOptions options, plannerOptions(c.options, *c.cluster));
    options.mesh = c.decided.mesh;
    options.memoryBytes = c.decided.budgetBytes;
    options.memoryOf = memoryOfPrograms(*c.module, evaluation, *c.cluster);
    nlohmann::json pins = nlohmann::json::array();
    for (size_t i = 0; i < model.arguments.size(); ++i) {
      const planner::Argument &argument = model.arguments[i];
      const planner::ArgumentDecision &decision = c.decided.arguments[i];
      if (used.contains(argument.name))
        pins.push_back({{"name", argument.name},
                        {"layout", namesOf(decision.storage, c.decided.mesh)},
                        {"use", namesOf(decision.compute, c.decided.mesh)}});
      else if (argument.role != "input" && argument.role != "label")
        options.memoryBytes -= planner::localBytes(model.values[size_t(argument.value)],
                                                   decision.storage, c.decided.mesh);
    }
    CLEAVE_TRY_ASSIGN(options.pins, planner::Pins::fromJson(nlohmann::json{{"pins", pins}}.dump()));
    Result<planner::Plan> plan = planner::planStep(evaluation, *c.cluster, options);
    if (plan.status().kind() == StatusKind::Infeasible && c.options.leastMemory) {
      options.memoryBytes = planner::kUnlimitedBytes; // takes more than the least of the training
      plan = planner::planStep(evaluation, *c.cluster, options);
    }
    CLEAVE_TRY(plan.status());
    shard::annotate(graph::stepOf(*c.module), static_cast<const planner::Decisions &>(*plan));
    return Status::ok();
  });
}

OwningOpRef<ModuleOp> withEvaluation(const Compilation &c) {
  OwningOpRef<ModuleOp> whole = ModuleOp(*c.module).clone();
  if (c.evaluation) {
    ModuleOp evaluation = ModuleOp(*c.evaluation).clone();
    evaluation.setSymName(kName);
    whole->push_back(evaluation);
  }
  return whole;
}

void takeEvaluation(Compilation &c) {
  for (ModuleOp nested : llvm::make_early_inc_range(c.module->getOps<ModuleOp>()))
    if (nested.getSymName() == kName) {
      nested->remove();
      nested->removeAttr(SymbolTable::getSymbolAttrName());
      c.evaluation = nested;
    }
}

} // namespace cleave::driver
