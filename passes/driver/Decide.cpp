#include "passes/driver/Decide.h"

#include "compiler/planner/ChooseFates.h"
#include "compiler/planner/FatePins.h"
#include "compiler/planner/ReadStep.h"
#include "dialects/graph/Step.h"
#include "passes/bufferize/Stores.h"
#include "passes/driver/Diagnostics.h"
#include "passes/driver/PlannedProgram.h"
#include "passes/remat/Realise.h"
#include "runtime/base/Units.h"

#include <algorithm>

using namespace mlir;

namespace cleave::driver {

// The step of a module with the buffers of its program.
static Result<planner::StepModel> readModel(ModuleOp module) {
  DiagnosticText diagnostics(*module.getContext());
  func::FuncOp step = graph::stepOf(module);
  FailureOr<planner::StepModel> model = planner::readStep(step);
  if (failed(model) || failed(bufferize::readStores(step, *model)))
    return Status::userError(diagnostics.text());
  return std::move(*model);
}

namespace {

// More bytes than any step needs, few enough to be added up.
constexpr int64_t kUnlimited = int64_t(1) << 60;
// How often fates are chosen with a corrected target.
constexpr int kRounds = 6;

class Decider {
public:
  Decider(ModuleOp module, const cluster::Cluster &cluster, const planner::PlannerOptions &options)
      : module_(module), cluster_(cluster), options_(options) {}

  Result<Decided> run() {
    CLEAVE_TRY_ASSIGN(model_, readModel(module_));
    CLEAVE_TRY_ASSIGN(forced_, planner::forcedFates(model_, options_.pins));
    Result<Decided> first = planWith(planner::fatesOf(model_, *forced_), options_.memoryBytes);
    const bool isInfeasible = first.status().kind() == StatusKind::Infeasible;
    if ((!first && !isInfeasible) || planner::isDetermined(*forced_) ||
        (first && first->plan.secondsPerByte == 0))
      return first;
    return planInLessMemory(std::move(first));
  }

private:
  // The plan of the step with these fates, within `memoryBytes` per rank; 0: those of the cluster.
  Result<Decided> planWith(const planner::Fates &fates, int64_t memoryBytes) {
    Decided decided;
    decided.module = module_.clone();
    const size_t clones = remat::realise(graph::stepOf(*decided.module), model_, fates);
    if (clones > 0) {
      CLEAVE_TRY_ASSIGN(decided.model, readModel(*decided.module));
    } else {
      decided.model = model_;
    }
    planner::PlannerOptions options = options_;
    options.memoryBytes = memoryBytes;
    if (mesh_)
      options.mesh = mesh_;
    options.memoryOf = [&](const planner::Decisions &decisions) -> Result<planner::ProgramMemory> {
      CLEAVE_TRY_ASSIGN(cluster::Cluster shared,
                        cluster::forRanks(cluster_, decisions.mesh.ranks()));
      return memoryOf(*decided.module, decisions, shared);
    };
    options.onTooLarge = [&](int64_t bytes) { tooLarge_ = bytes; };
    CLEAVE_TRY_ASSIGN(decided.plan, planner::planStep(decided.model, cluster_, options));
    return decided;
  }

  // `first`: the plan within the budget that keeps everything, if there is one.
  Result<Decided> planInLessMemory(Result<Decided> first) {
    const int64_t needed = tooLarge_;
    planner::PlannerOptions free = options_;
    free.memoryBytes = kUnlimited;
    CLEAVE_TRY_ASSIGN(planner::Plan whole, planner::planStep(model_, cluster_, free));
    CLEAVE_TRY_ASSIGN(cluster::Cluster shared, cluster::forRanks(cluster_, options_.ranks));
    budget_ = options_.memoryBytes ? options_.memoryBytes : shared.usableBytes();
    mesh_ = whole.mesh; // meshes are compared by the step that keeps everything
    planner::Costs costs(model_, shared, whole.mesh);
    CLEAVE_TRY(searchFates(costs, whole));
    for (const planner::Fates &recipe :
         {planner::selectiveRecompute(model_), planner::fullRecompute(model_)})
      CLEAVE_TRY(tryFates(recipe).status());
    const Tried &best = *std::min_element(tried_.begin(), tried_.end());
    if (best.slack >= 0 && first && first->plan.seconds <= best.seconds)
      return first;
    Result<Decided> again = planWith(best.fates, budget_);
    if (!again) // of two failures the one that needs less is told
      return first || needed <= tooLarge_ ? std::move(first) : std::move(again);
    again->plan.boundSeconds = std::min(again->plan.boundSeconds, whole.boundSeconds);
    const double seconds = again->plan.seconds;
    again->plan.gap = seconds > 0 ? (seconds - again->plan.boundSeconds) / seconds : 0;
    again->recomputation = summary(*again, whole, planner::secondsOf(costs, whole));
    return first && first->plan.seconds <= seconds ? std::move(first) : std::move(again);
  }

  // Chooses fates for targets around the budget until the realised step just fits.
  Status searchFates(planner::Costs &costs, const planner::Plan &whole) {
    int64_t target = budget_, fitting = 0, tooLarge = whole.arenaBytes + 1;
    for (int round = 0; round < kRounds && tooLarge - fitting > budget_ / 200; ++round) {
      Result<planner::ChosenFates> chosen =
          planner::chooseFates(costs, whole, *forced_, target, options_.solve);
      if (chosen.status().kind() == StatusKind::Infeasible)
        return Status::ok();
      CLEAVE_TRY(chosen.status());
      CLEAVE_TRY_ASSIGN(int64_t slack, tryFates(chosen->fates));
      if (slack >= 0)
        fitting = std::max(fitting, target);
      else
        tooLarge = std::min(tooLarge, target);
      if (slack >= 0 ? slack < budget_ / 200 : !chosen->isFitting)
        return Status::ok();
      target += slack;
      if (target <= fitting || target >= tooLarge)
        target = fitting + (tooLarge - fitting) / 2;
    }
    return Status::ok();
  }

  // Plans with these fates and without a limit. Returns the bytes that are left of the budget;
  // negative: that are missing.
  Result<int64_t> tryFates(planner::Fates fates) {
    for (size_t i = 0; i < model_.ops.size(); ++i)
      if (const std::optional<bool> &fate = forced_->again[i]) {
        fates.again[i] = *fate;
        fates.kept.erase(static_cast<int>(i));
      }
    planner::normalise(model_, fates);
    for (const Tried &tried : tried_)
      if (tried.fates == fates)
        return tried.slack;
    CLEAVE_TRY_ASSIGN(Decided plan, planWith(fates, kUnlimited));
    tried_.push_back({std::move(fates), budget_ - plan.plan.arenaBytes, plan.plan.seconds});
    return tried_.back().slack;
  }

  static std::string summary(const Decided &decided, const planner::Plan &whole, double seconds) {
    const size_t again = decided.plan.repetitions.size();
    if (again == 0)
      return "";
    return concat(again, " ops of the forward pass are computed again in the backward pass: ",
                  bytesText(decided.plan.peakBytes), " at the peak instead of ",
                  bytesText(whole.peakBytes), ", ", secondsText(decided.plan.seconds),
                  " per step instead of ", secondsText(seconds),
                  "; the bound is that of plans with the same repetitions or none");
  }

  // Fates that were realised and planned.
  struct Tried {
    planner::Fates fates;
    int64_t slack = 0;  // bytes of the budget that are left
    double seconds = 0; // per step

    // The better ones come first: the fastest that fit, then those that miss the fewest bytes.
    bool operator<(const Tried &other) const {
      if (slack >= 0 && other.slack >= 0)
        return seconds < other.seconds;
      return slack > other.slack;
    }
  };

  ModuleOp module_;
  const cluster::Cluster &cluster_;
  const planner::PlannerOptions &options_;
  planner::StepModel model_; // of the step as it is
  std::optional<planner::ForcedFates> forced_;
  std::optional<Mesh> mesh_; // of plans with repetitions
  int64_t budget_ = 0;       // bytes of one rank
  std::vector<Tried> tried_;
  // Bytes of the smallest program of the last plan that did not fit.
  int64_t tooLarge_ = std::numeric_limits<int64_t>::max();
};

} // namespace

Result<Decided> decide(ModuleOp module, const cluster::Cluster &cluster,
                       const planner::PlannerOptions &options) {
  return Decider(module, cluster, options).run();
}

} // namespace cleave::driver
