#include "passes/driver/DecideStep.h"

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

// How often fates are chosen with a corrected target.
constexpr int kRounds = 6;
// Plans that are split more finely first need at most this share of the budget more, and give way
// to repetitions in a few rounds, whose targets differ by a share of it.
constexpr int64_t kLargerShare = 4, kShare = 20;
constexpr int kSplitRounds = 3;
// With a gap below this no plan that keeps everything is searched.
constexpr double kGoodGap = 0.05;

// A failure other than that nothing fits: no other attempt mends it.
Status unlessInfeasible(const Status &status) {
  return status.kind() == StatusKind::Infeasible ? Status::ok() : status;
}

class Decider {
public:
  Decider(ModuleOp module, const cluster::Cluster &cluster, const planner::PlannerOptions &options)
      : module_(module), cluster_(cluster), options_(options) {}

  Result<Decided> run() {
    CLEAVE_TRY_ASSIGN(model_, readModel(module_));
    CLEAVE_TRY_ASSIGN(forced_, planner::forcedFates(model_, options_.pins));
    CLEAVE_TRY_ASSIGN(cluster::Cluster shared, cluster::forRanks(cluster_, options_.ranks));
    budget_ = options_.memoryBytes ? options_.memoryBytes : shared.usableBytes();
    const planner::Fates kept = planner::fatesOf(model_, *forced_);
    if (planner::isDetermined(*forced_))
      return planWith(kept, within(WhenTooLarge::Explain));
    Result<Decided> free = planWith(kept, within(WhenTooLarge::Stop));
    CLEAVE_TRY(unlessInfeasible(free.status()));
    if (free)
      return free;
    CLEAVE_TRY_ASSIGN(std::optional<Base> base, chooseBase(shared));
    return base ? planInLessMemory(kept, *base) : std::move(free); // memory is not the reason
  }

private:
  using WhenTooLarge = planner::WhenTooLarge;

  // The plan without a limit that fates are chosen for.
  struct Base {
    planner::Plan whole;
    double seconds = solver::kForbidden;      // with the repetitions that make it fit
    int64_t missing = 0;                      // bytes that repetitions do not save
    double boundSeconds = solver::kForbidden; // of all meshes

    bool operator<(const Base &other) const {
      return std::pair(missing, seconds) < std::pair(other.missing, other.seconds);
    }
  };

  planner::PlannerOptions within(WhenTooLarge whenTooLarge) const {
    planner::PlannerOptions options = options_;
    options.memoryBytes = budget_;
    options.whenTooLarge = whenTooLarge;
    return options;
  }
  planner::PlannerOptions withoutLimit(const Mesh &mesh) const {
    planner::PlannerOptions options = options_;
    options.memoryBytes = planner::kUnlimitedBytes;
    options.mesh = mesh;
    return options;
  }

  // The plan of the step with these fates.
  Result<Decided> planWith(const planner::Fates &fates, planner::PlannerOptions options) {
    Decided decided;
    decided.module = module_.clone();
    const size_t clones = remat::realise(graph::stepOf(*decided.module), model_, fates);
    if (clones > 0) {
      CLEAVE_TRY_ASSIGN(decided.model, readModel(*decided.module));
    } else {
      decided.model = model_;
    }
    options.memoryOf = [&](const planner::Decisions &decisions) -> Result<planner::ProgramMemory> {
      CLEAVE_TRY_ASSIGN(cluster::Cluster shared,
                        cluster::forRanks(cluster_, decisions.mesh.ranks()));
      return memoryOf(*decided.module, decisions, shared);
    };
    options.onTooLarge = [&](int64_t bytes) { tooLarge_ = bytes; };
    CLEAVE_TRY_ASSIGN(decided.plan, planner::planStep(decided.model, cluster_, options));
    return decided;
  }

  // `kept`: the fates that keep everything. Plans that do so are searched last, since they must
  // beat those with repetitions.
  Result<Decided> planInLessMemory(const planner::Fates &kept, const Base &base) {
    mesh_ = base.whole.mesh;
    CLEAVE_TRY_ASSIGN(cluster::Cluster shared, cluster::forRanks(cluster_, options_.ranks));
    planner::Costs costs(model_, shared, *mesh_);
    CLEAVE_TRY(searchFates(costs, base.whole));
    for (const planner::Fates &recipe :
         {planner::selectiveRecompute(model_), planner::fullRecompute(model_)})
      CLEAVE_TRY(tryFates(recipe).status());
    const Tried &best = *std::min_element(tried_.begin(), tried_.end());
    planner::PlannerOptions options = within(WhenTooLarge::Search);
    options.mesh = mesh_;
    Result<Decided> again = planWith(best.fates, options);
    CLEAVE_TRY(unlessInfeasible(again.status()));
    CLEAVE_TRY_ASSIGN(std::optional<Decided> mixed, splitThenRepeat(kept, costs, again));
    if (mixed)
      again = std::move(*mixed);
    if (again) {
      again->plan.boundSeconds = std::min(again->plan.boundSeconds, base.boundSeconds);
      const double seconds = again->plan.seconds;
      again->plan.gap = seconds > 0 ? (seconds - again->plan.boundSeconds) / seconds : 0;
      again->recomputation = summary(*again, base.whole, planner::secondsOf(costs, base.whole));
    }
    if (again && again->plan.gap < kGoodGap)
      return again;
    options = within(WhenTooLarge::Search);
    options.cutoffSeconds = again ? again->plan.seconds : solver::kForbidden;
    Result<Decided> first = planWith(kept, options);
    CLEAVE_TRY(unlessInfeasible(first.status()));
    if (first || again)
      return first ? std::move(first) : std::move(again);
    return explain(kept, best.fates);
  }

  // Repetitions for a plan that is split more finely already, such that it needs not much more than
  // the budget. Nothing if this does not beat `other`.
  Result<std::optional<Decided>> splitThenRepeat(const planner::Fates &kept, planner::Costs &costs,
                                                 const Result<Decided> &other) {
    planner::PlannerOptions options = within(WhenTooLarge::Search);
    options.mesh = mesh_;
    options.cutoffSeconds = other ? other->plan.seconds : solver::kForbidden;
    planner::PlannerOptions larger = options;
    larger.memoryBytes += budget_ / kLargerShare;
    Result<Decided> base = planWith(kept, larger);
    CLEAVE_TRY(unlessInfeasible(base.status()));
    int64_t target = budget_;
    for (int round = 0; base && round < kSplitRounds; ++round, target -= budget_ / kShare) {
      Result<planner::ChosenFates> chosen =
          planner::chooseFates(costs, base->plan, *forced_, target, options_.solve);
      CLEAVE_TRY(unlessInfeasible(chosen.status()));
      if (!chosen || !chosen->isFitting)
        return std::optional<Decided>();
      Result<Decided> plan = planWith(withForced(chosen->fates), options);
      if (plan)
        return std::optional<Decided>(std::move(*plan));
      CLEAVE_TRY(unlessInfeasible(plan.status()));
    }
    return std::optional<Decided>();
  }

  // The message that nothing fits: of two failures the one that needs less is told.
  Result<Decided> explain(const planner::Fates &kept, const planner::Fates &best) {
    planner::PlannerOptions options = within(WhenTooLarge::Explain);
    Result<Decided> first = planWith(kept, options);
    const int64_t needed = tooLarge_;
    CLEAVE_TRY(unlessInfeasible(first.status()));
    if (first)
      return first;
    options.mesh = mesh_;
    Result<Decided> again = planWith(best, options);
    return again || tooLarge_ < needed ? std::move(again) : std::move(first);
  }

  // The fastest plans of meshes differ little in time, but much in memory: the mesh is taken whose
  // plan is the fastest with the repetitions that it needs. Nothing if there is no plan at all.
  Result<std::optional<Base>> chooseBase(const cluster::Cluster &shared) {
    std::optional<Base> best;
    double bound = solver::kForbidden;
    for (const Mesh &mesh : planner::meshesToTry(options_)) {
      Result<planner::Plan> whole = planner::planStep(model_, cluster_, withoutLimit(mesh));
      CLEAVE_TRY(unlessInfeasible(whole.status()));
      if (!whole)
        continue; // another mesh may do
      bound = std::min(bound, whole->boundSeconds);
      planner::Costs costs(model_, shared, mesh);
      Result<planner::ChosenFates> chosen =
          planner::chooseFates(costs, *whole, *forced_, budget_, options_.solve);
      CLEAVE_TRY(unlessInfeasible(chosen.status()));
      Base base{std::move(*whole)};
      base.seconds = base.whole.seconds + (chosen ? chosen->seconds : 0);
      base.missing = !chosen             ? std::numeric_limits<int64_t>::max()
                     : chosen->isFitting ? 0
                                         : chosen->peakBytes - budget_;
      if (!best || base < *best)
        best = std::move(base);
    }
    if (best)
      best->boundSeconds = bound;
    return best;
  }

  // Chooses fates for targets around the budget until the realised step just fits.
  Status searchFates(planner::Costs &costs, const planner::Plan &whole) {
    int64_t target = budget_, fitting = 0, tooLarge = whole.arenaBytes + 1;
    for (int round = 0; round < kRounds && tooLarge - fitting > budget_ / 200; ++round) {
      Result<planner::ChosenFates> chosen =
          planner::chooseFates(costs, whole, *forced_, target, options_.solve);
      CLEAVE_TRY(unlessInfeasible(chosen.status()));
      if (!chosen)
        return Status::ok();
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
  Result<int64_t> tryFates(const planner::Fates &chosen) {
    planner::Fates fates = withForced(chosen);
    for (const Tried &tried : tried_)
      if (tried.fates == fates)
        return tried.slack;
    CLEAVE_TRY_ASSIGN(Decided plan, planWith(fates, withoutLimit(*mesh_)));
    tried_.push_back({std::move(fates), budget_ - plan.plan.arenaBytes, plan.plan.seconds});
    return tried_.back().slack;
  }

  // The same fates, but for those that the user determines.
  planner::Fates withForced(planner::Fates fates) const {
    for (size_t i = 0; i < model_.ops.size(); ++i)
      if (const std::optional<bool> &fate = forced_->again[i]) {
        fates.again[i] = *fate;
        fates.kept.erase(static_cast<int>(i));
      }
    planner::normalise(model_, fates);
    return fates;
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

Result<Decided> decideStep(ModuleOp module, const cluster::Cluster &cluster,
                           const planner::PlannerOptions &options) {
  return Decider(module, cluster, options).run();
}

} // namespace cleave::driver
