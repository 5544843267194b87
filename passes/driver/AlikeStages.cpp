// See AlikeStages.h.
#include "passes/driver/AlikeStages.h"

#include "compiler/planner/remat/FatePins.h"
#include "dialects/graph/Messages.h"
#include "dialects/graph/Step.h"
#include "passes/driver/ModuleStep.h"
#include "runtime/base/Units.h"

#include "mlir/IR/OperationSupport.h"

#include <map>

using namespace mlir;

namespace cleave::driver {

// -- equal steps ----------------------------------------------------------------------------------

static bool isScalar(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0;
}

// The attributes of an argument or result but for those that name it or a stage. Scalars have one
// layout, whether another stage has decided on it or not.
static DictionaryAttr withoutNames(DictionaryAttr attributes, Type type) {
  NamedAttrList kept(attributes);
  for (StringRef name : {"graph.name", "graph.parameter", "graph.source"})
    kept.erase(name);
  kept.erase(graph::kPeer);
  if (isScalar(type))
    for (StringRef decided : {graph::kLayout, graph::kSamples, graph::kPositions})
      kept.erase(decided);
  return kept.getDictionary(type.getContext());
}

static bool haveAlikeBodies(Region &a, Region &b) {
  llvm::DenseMap<Value, Value> partner;
  return OperationEquivalence::isRegionEquivalentTo(
      &a, &b,
      [&](Value one, Value other) {
        return success(isScalar(one.getType()) || partner.lookup(one) == other);
      },
      [&](Value one, Value other) { partner[one] = other; }, OperationEquivalence::IgnoreLocations);
}

bool areAlike(ModuleOp a, ModuleOp b) {
  func::FuncOp one = graph::stepOf(a), other = graph::stepOf(b);
  if (one.getFunctionType() != other.getFunctionType())
    return false;
  for (auto [i, type] : llvm::enumerate(one.getArgumentTypes()))
    if (withoutNames(one.getArgAttrDict(i), type) != withoutNames(other.getArgAttrDict(i), type))
      return false;
  for (auto [i, type] : llvm::enumerate(one.getResultTypes()))
    if (withoutNames(one.getResultAttrDict(i), type) !=
        withoutNames(other.getResultAttrDict(i), type))
      return false;
  return haveAlikeBodies(one.getBody(), other.getBody());
}

// -- decisions of another stage -------------------------------------------------------------------

// Replaces the names of ops and arguments of one model by the names of another one.
static void rename(planner::Plan &plan, const planner::StepModel &from,
                   const planner::StepModel &to) {
  std::map<std::string, std::string> names;
  for (size_t i = 0; i < from.ops.size(); ++i)
    names.try_emplace(from.ops[i].name, to.ops[i].name);
  for (size_t i = 0; i < from.arguments.size(); ++i)
    names.try_emplace(from.arguments[i].name, to.arguments[i].name);
  auto renameAll = [&](auto &list) {
    for (auto &entry : list)
      if (auto name = names.find(entry.name); name != names.end())
        entry.name = name->second;
  };
  renameAll(plan.reasons);
  renameAll(plan.repetitions);
  renameAll(plan.kept);
  renameAll(plan.atPeak);
  plan.remarks.clear(); // whose texts have names
}

// The decisions of `like` on another step, whose memory is set; nothing if it exceeds the budget.
static Result<std::optional<Decided>> decideAs(const Decided &like, const ModuleStep &step,
                                               const cluster::Cluster &cluster) {
  planner::PlannedStep planned;
  planned.fates = like.fates;
  CLEAVE_TRY_ASSIGN(planned.step, step.realise(like.fates));
  planned.plan = like.plan;
  planner::Plan &plan = planned.plan;
  rename(plan, like.model, planned.step->model());
  CLEAVE_TRY_ASSIGN(const planner::ProgramMemory memory,
                    planner::memoryOf(*planned.step, cluster, plan.budget)(plan));
  if (!plan.budget.holds(memory.arena))
    return std::optional<Decided>();
  plan.peakBytes = memory.peak;
  plan.arenaBytes = memory.arena;
  if (const size_t again = plan.repetitions.size(); again > 0)
    planned.recomputation =
        concat(again,
               " activations are recomputed in the backward pass, as on an earlier stage of equal "
               "ops: ",
               bytesText(memory.peak), " at the peak");
  return std::optional(decidedBy(std::move(planned)));
}

Result<std::optional<Decided>> decideAlike(ModuleOp module, const Decided &like,
                                           const cluster::Cluster &cluster,
                                           const planner::PlannerOptions &options) {
  CLEAVE_TRY_ASSIGN(const ModuleStep step, ModuleStep::read(module));
  CLEAVE_TRY_ASSIGN(const planner::ForcedFates forced,
                    planner::forcedFates(step.model(), options.pins, options.spaces));
  if (!like.plan.repetitions.empty() && !planner::isDetermined(forced)) {
    planner::TrialOptions trial = options;
    trial.whenTooLarge = planner::WhenTooLarge::Stop;
    Result<planner::PlannedStep> kept =
        planner::planWithFates(step, planner::fatesOf(step.model(), forced), cluster, trial);
    if (kept)
      return std::optional(decidedBy(std::move(*kept)));
    if (kept.status().kind() != StatusKind::Infeasible)
      return kept.status();
  }
  return decideAs(like, step, cluster);
}

} // namespace cleave::driver
