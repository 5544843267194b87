// See AlikeStages.h.
#include "passes/driver/AlikeStages.h"

#include "compiler/planner/remat/FatePins.h"
#include "dialects/graph/Messages.h"
#include "dialects/graph/Step.h"
#include "passes/driver/PlanFates.h"
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
static Result<std::optional<Decided>> decideAs(const Decided &like, ModuleOp module,
                                               const planner::StepModel &model,
                                               const cluster::Cluster &cluster) {
  CLEAVE_TRY_ASSIGN(Decided decided, realiseFates(module, model, like.fates));
  decided.plan = like.plan;
  rename(decided.plan, like.model, decided.model);
  CLEAVE_TRY_ASSIGN(
      const planner::ProgramMemory memory,
      memoryOfPrograms(*decided.module, decided.model, cluster, decided.plan.budget)(decided.plan));
  if (!decided.plan.budget.holds(memory.arena))
    return std::optional<Decided>();
  decided.plan.peakBytes = memory.peak;
  decided.plan.arenaBytes = memory.arena;
  if (const size_t again = decided.plan.repetitions.size(); again > 0)
    decided.recomputation =
        concat(again,
               " activations are recomputed in the backward pass, as on an earlier stage of equal "
               "ops: ",
               bytesText(memory.peak), " at the peak");
  return std::optional(std::move(decided));
}

Result<std::optional<Decided>> decideAlike(ModuleOp module, const Decided &like,
                                           const cluster::Cluster &cluster,
                                           planner::PlannerOptions options) {
  CLEAVE_TRY_ASSIGN(const planner::StepModel model, readModel(module));
  CLEAVE_TRY_ASSIGN(const planner::ForcedFates forced,
                    planner::forcedFates(model, options.pins, options.spaces));
  if (!like.plan.repetitions.empty() && !planner::isDetermined(forced)) {
    options.whenTooLarge = planner::WhenTooLarge::Stop;
    Result<Decided> kept =
        planWithFates(module, model, planner::fatesOf(model, forced), cluster, options);
    if (kept)
      return std::optional(std::move(*kept));
    if (kept.status().kind() != StatusKind::Infeasible)
      return kept.status();
  }
  return decideAs(like, module, model, cluster);
}

} // namespace cleave::driver
