// See AlikeStages.h.
#include "passes/driver/AlikeStages.h"

#include "compiler/planner/remat/RematPins.h"
#include "compiler/planner/search/RematSearch.h"
#include "dialects/graph/Messages.h"
#include "dialects/graph/Step.h"
#include "passes/driver/ModuleStep.h"
#include "runtime/base/Units.h"

#include "mlir/IR/OperationSupport.h"

#include <algorithm>
#include <functional>
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
static void rename(planner::PlanReport &plan, const planner::StepModel &from,
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
  renameAll(plan.recomputed);
  renameAll(plan.kept);
  renameAll(plan.atPeak);
  plan.remarks.clear(); // whose texts have names
}

// A sentence on what a stage recomputes. `how`: what it shares with the earlier stage.
static std::string recomputationText(size_t recomputed, const char *how, int64_t peakBytes) {
  return recomputed == 0
             ? ""
             : concat(recomputed, " activations are recomputed in the backward pass, ", how,
                      " of an earlier stage of equal ops: ", bytesText(peakBytes), " at the peak");
}

// The decisions of `like` on another step, whose memory is set; nothing if it exceeds the budget.
static Result<std::optional<PlannedModule>> planAs(const PlannedModule &like,
                                                   const ModuleStep &step,
                                                   const cluster::Cluster &cluster,
                                                   const planner::Budget &budget) {
  planner::PlannedStep planned;
  planned.policy = like.policy;
  CLEAVE_TRY_ASSIGN(planned.step, step.realise(like.policy));
  planned.plan = like.plan;
  planned.plan.budget = budget;
  planner::PlanReport &plan = planned.plan;
  rename(plan, like.model, planned.step->model());
  CLEAVE_TRY_ASSIGN(const planner::ProgramMemory memory,
                    planner::memoryOf(*planned.step, cluster, budget)(plan));
  if (!budget.holds(memory.arena))
    return std::optional<PlannedModule>();
  plan.peakBytes = memory.peak;
  plan.arenaBytes = memory.arena;
  planned.around = like.around;
  planned.recomputation =
      recomputationText(plan.recomputed.size(), "with the decisions", memory.peak);
  return std::optional(plannedModule(std::move(planned)));
}

// Whether a plan leaves enough of its budget to keep values that it recomputes.
static bool leavesMuch(const planner::PlanReport &plan) {
  constexpr int64_t kShare = 20;
  return plan.budget.isLimited() &&
         plan.budget.bytes() - plan.arenaBytes > plan.budget.bytes() / kShare;
}

// The bound of `like`, if it also bounds the plans of this step: if they have no larger budget, and
// need as much memory or more, because at least as many micro-batches are in flight.
static std::optional<planner::Proven>
provenBy(const PlannedModule &like, const planner::StepModel &step, const planner::Budget &budget) {
  if (budget.isAtMost(like.plan.budget) &&
      std::ranges::equal(step.inFlight, like.model.inFlight, std::greater_equal<>()))
    return planner::Proven{like.plan.boundSeconds, {}};
  return std::nullopt;
}

// The fastest plan found in the layouts of `like`, whatever is recomputed there; nothing if none
// fits.
static Result<std::optional<PlannedModule>>
planInLayoutsOf(const PlannedModule &like, const ModuleStep &step, const cluster::Cluster &cluster,
                const planner::PlannerOptions &options, const planner::PinnedRemat &pinned) {
  planner::PricedDecisions around = *like.around;
  around.mesh = like.plan.mesh; // whose axes have names
  planner::Seen seen;
  const planner::Trials trials(step, cluster, options, {}, seen,
                               provenBy(like, step.model(), options.budget));
  planner::RematSearch remat(trials, pinned);
  CLEAVE_TRY_ASSIGN(const cluster::Cluster shared, trials.shared());
  planner::Costs costs(step.model(), shared, around.mesh);
  CLEAVE_TRY(remat.search({costs, around}));
  std::optional<planner::PlannedStep> best = remat.takeBest();
  if (!best)
    return std::optional<PlannedModule>();
  best->recomputation =
      recomputationText(best->plan.recomputed.size(), "in the layouts", best->plan.peakBytes);
  return std::optional(plannedModule(std::move(*best)));
}

Result<std::optional<PlannedModule>> planAlike(ModuleOp module, const PlannedModule &like,
                                               const cluster::Cluster &cluster,
                                               const planner::PlannerOptions &options) {
  CLEAVE_TRY_ASSIGN(const ModuleStep step, ModuleStep::read(module));
  CLEAVE_TRY_ASSIGN(const planner::PinnedRemat pinned,
                    planner::pinnedRemat(step.model(), options.pins, options.spaces));
  if (!like.plan.recomputed.empty() && !planner::isDetermined(pinned)) {
    planner::TrialOptions trial = options;
    trial.whenTooLarge = planner::WhenTooLarge::Stop;
    Result<planner::PlannedStep> kept =
        planner::planWithPolicy(step, planner::policyOf(step.model(), pinned), cluster, trial);
    if (kept)
      return std::optional(plannedModule(std::move(*kept)));
    if (kept.status().kind() != StatusKind::Infeasible)
      return kept.status();
  }
  CLEAVE_TRY_ASSIGN(std::optional<PlannedModule> same, planAs(like, step, cluster, options.budget));
  if (!like.around || options.spaces.any() || (same && !leavesMuch(same->plan)))
    return same;
  CLEAVE_TRY_ASSIGN(std::optional<PlannedModule> other,
                    planInLayoutsOf(like, step, cluster, options, pinned));
  const bool isFaster = other && (!same || other->plan.seconds < same->plan.seconds);
  return isFaster ? std::move(other) : std::move(same);
}

} // namespace cleave::driver
