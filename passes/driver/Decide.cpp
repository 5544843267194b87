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
#include <limits>

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
    options.memoryOf = [&](const planner::Decisions &decisions) -> Result<planner::ProgramMemory> {
      CLEAVE_TRY_ASSIGN(cluster::Cluster shared,
                        cluster::forRanks(cluster_, decisions.mesh.ranks()));
      return memoryOf(*decided.module, decisions, shared);
    };
    options.onTooLarge = [&](int64_t bytes) { tooLarge_ = bytes; };
    CLEAVE_TRY_ASSIGN(decided.plan, planner::planStep(decided.model, cluster_, options));
    return decided;
  }

  Result<Decided> planInLessMemory(Result<Decided> first) {
    best_ = std::move(first);
    leastMissing_ = best_ ? leastMissing_ : -tooLarge_;
    planner::PlannerOptions free = options_;
    free.memoryBytes = kUnlimited;
    CLEAVE_TRY_ASSIGN(planner::Plan whole, planner::planStep(model_, cluster_, free));
    CLEAVE_TRY_ASSIGN(cluster::Cluster shared, cluster::forRanks(cluster_, options_.ranks));
    budget_ = options_.memoryBytes ? options_.memoryBytes : shared.usableBytes();
    planner::Costs costs(model_, shared, whole.mesh);
    CLEAVE_TRY(searchFates(costs, whole));
    for (const planner::Fates &recipe :
         {planner::selectiveRecompute(model_), planner::fullRecompute(model_)})
      CLEAVE_TRY(tryFates(recipe).status());
    if (best_) {
      best_->plan.boundSeconds = std::min(best_->plan.boundSeconds, whole.boundSeconds);
      const double seconds = best_->plan.seconds;
      best_->plan.gap = seconds > 0 ? (seconds - best_->plan.boundSeconds) / seconds : 0;
      best_->recomputation = summary(costs, whole);
    }
    return std::move(best_);
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

  // Plans with these fates, and keeps the plan if it is the best so far. Returns the bytes that are
  // left of the budget; negative: that are missing.
  Result<int64_t> tryFates(planner::Fates fates) {
    for (size_t i = 0; i < model_.ops.size(); ++i)
      if (const std::optional<bool> &fate = forced_->again[i]) {
        fates.again[i] = *fate;
        fates.kept.erase(static_cast<int>(i));
      }
    planner::normalise(model_, fates);
    for (const auto &[tried, slack] : tried_)
      if (tried == fates)
        return slack;
    Result<Decided> candidate = planWith(fates, budget_);
    int64_t slack = 0;
    if (candidate) {
      slack = budget_ - candidate->plan.arenaBytes;
    } else if (candidate.status().kind() == StatusKind::Infeasible) {
      CLEAVE_TRY_ASSIGN(Decided large, planWith(fates, kUnlimited));
      slack = std::min<int64_t>(budget_ - large.plan.arenaBytes, -1);
    } else {
      return candidate.status();
    }
    tried_.push_back({std::move(fates), slack});
    const int64_t missing = candidate ? 0 : -tooLarge_;
    keepIfBetter(std::move(candidate), missing);
    return slack;
  }

  // Of failures the one is kept that misses the fewest bytes.
  void keepIfBetter(Result<Decided> candidate, int64_t slack) {
    const bool isBetter = candidate ? !best_ || candidate->plan.seconds < best_->plan.seconds
                                    : !best_ && slack > leastMissing_;
    if (!isBetter)
      return;
    leastMissing_ = slack;
    best_ = std::move(candidate);
  }

  std::string summary(planner::Costs &costs, const planner::Plan &whole) const {
    const size_t again = best_->plan.repetitions.size();
    if (again == 0)
      return "";
    return concat(again, " ops of the forward pass are computed again in the backward pass: ",
                  bytesText(best_->plan.peakBytes), " at the peak instead of ",
                  bytesText(whole.peakBytes), ", ", secondsText(best_->plan.seconds),
                  " per step instead of ", secondsText(planner::secondsOf(costs, whole)));
  }

  ModuleOp module_;
  const cluster::Cluster &cluster_;
  const planner::PlannerOptions &options_;
  planner::StepModel model_; // of the step as it is
  std::optional<planner::ForcedFates> forced_;
  int64_t budget_ = 0;                                    // bytes of one rank
  std::vector<std::pair<planner::Fates, int64_t>> tried_; // and the bytes that were left
  int64_t leastMissing_ = std::numeric_limits<int64_t>::min();
  // Bytes of the smallest program of the last plan that did not fit.
  int64_t tooLarge_ = std::numeric_limits<int64_t>::max();
  Result<Decided> best_ = Status::infeasible("nothing was planned");
};

} // namespace

Result<Decided> decide(ModuleOp module, const cluster::Cluster &cluster,
                       const planner::PlannerOptions &options) {
  return Decider(module, cluster, options).run();
}

} // namespace cleave::driver
