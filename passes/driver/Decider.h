// Decider: the search of decideStep(). Private to this folder.
#pragma once

#include "passes/driver/DecideStep.h"

#include "compiler/planner/remat/ChooseFates.h"
#include "compiler/planner/remat/FatePins.h"
#include "compiler/planner/search/JointMeshes.h"
#include "compiler/planner/search/OverlappedCopies.h"
#include "passes/driver/LeastMemory.h"
#include "passes/driver/PlanFates.h"
#include "runtime/base/Units.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace cleave::driver {

class Decider {
public:
  Decider(mlir::ModuleOp module, const cluster::Cluster &cluster,
          const planner::PlannerOptions &options)
      : module_(module), given_(cluster), cluster_(cluster), options_(options) {}

  // Whether plans in less memory were searched, so that a failure proves nothing.
  bool isSearched() const { return proven_.has_value(); }

  Result<Decided> run() {
    Result<Decided> decided = decide();
    const bool isTooLarge = decided.status().kind() == StatusKind::Infeasible;
    if (isTooLarge && options_.onTooLarge && least_)
      options_.onTooLarge(*least_);
    return decided;
  }

private:
  // How often fates are chosen with a corrected target.
  static constexpr int kRounds = 6;
  // Plans that are split more finely first need at most this share of the budget more, and give way
  // to repetitions in a few rounds, whose targets differ by a share of it.
  static constexpr int64_t kLargerShare = 4, kShare = 20;
  static constexpr int kSplitRounds = 3;
  // How often an op may run again where nothing fits with one repetition of each. Networks of fates
  // grow with it.
  static constexpr int kRepetitions = 2;
  // How often fates for less than the budget are tried, and the share of it that is left out each
  // time, where they promise to be faster.
  static constexpr int kLessRounds = 12;
  static constexpr int64_t kLess = 80;
  // How many meshes fates are chosen on for layouts that were chosen together with them.
  static constexpr int64_t kBases = 3;
  // Targets are told apart by a share of the budget; by the larger one with a gap below kCloseGap.
  static constexpr int64_t kFine = 200, kCoarse = 50;
  static constexpr double kCloseGap = 0.02;
  // Plans within a budget are not searched if the smallest program that was seen takes so many
  // times as much: layouts that are split more finely save less.
  static constexpr int64_t kHopeless = 2;
  // With a gap below this neither layouts and fates that are chosen one after the other nor plans
  // that keep everything are searched.
  static constexpr double kGoodGap = 0.05;

  // A failure other than that nothing fits: no other attempt mends it.
  static Status unlessInfeasible(const Status &status) {
    return status.kind() == StatusKind::Infeasible ? Status::ok() : status;
  }

  Result<Decided> decide() {
    CLEAVE_TRY_ASSIGN(model_, readModel(module_));
    CLEAVE_TRY_ASSIGN(forced_, planner::forcedFates(model_, options_.pins, options_.spaces));
    CLEAVE_TRY(realiseForced());
    const planner::Fates kept = planner::fatesOf(model_, *forced_);
    if (planner::isDetermined(*forced_) && !options_.spaces.any())
      return planWith(kept, within(options_.whenTooLarge));
    Result<Decided> free = planWithCopies(kept, within(WhenTooLarge::Stop));
    CLEAVE_TRY(unlessInfeasible(free.status()));
    if (free || !options_.budget.isLimited())
      return free;
    budget_ = options_.budget.bytes();
    if (options_.spaces.any())
      return useSpaces(kept);
    CLEAVE_TRY_ASSIGN(std::vector<planner::JointMesh> meshes,
                      planner::jointMeshes(model_, cluster_, options_, *forced_));
    if (meshes.empty())
      return free;                                    // memory is not the reason
    if (meshes[0].boundSeconds == solver::kForbidden) // they are in rising order
      return refuse(meshes);
    proven_ = planner::Proven{meshes[0].boundSeconds, {}};
    for (const planner::JointMesh &mesh : meshes)
      proven_->meshes.emplace_back(mesh.mesh, mesh.boundSeconds);
    return options_.pins.recompute() == planner::Recompute::ShardingFirst
               ? shardThenRepeat(kept)
               : planInLessMemory(kept, meshes);
  }

  // -- other spaces than device memory (UseSpaces.cpp) --------------------------------------------

  // What the pins determine becomes part of the step that all plans begin with.
  Status realiseForced();
  // planWith(), where pins may have moved values to other spaces: the faster of two plans, whose
  // copies count with the least share and with all of their seconds. The first has the bound.
  Result<Decided> planWithCopies(const planner::Fates &fates,
                                 const planner::PlannerOptions &options);
  // Uses other spaces for values that do not fit. The layouts are the best ones without a limit,
  // and those for multiples of the budget. Plans are searched for rising shares of the copies'
  // seconds (OverlappedCopies.h), until computation takes longer. The bound is that of plans that
  // copy no more than the pins say, and is not lowered by copies.
  Result<Decided> useSpaces(const planner::Fates &kept);
  // Searches plans while a copy counts with a share of its seconds. `whole`: the fastest plan that
  // keeps everything. Sets the best plan.
  Status useSpacesAt(double exposed, const planner::Fates &kept, const Decided &whole);
  // Uses other spaces with the layouts that are best within a larger budget.
  Status useSpacesOn(const planner::Fates &kept, int64_t larger, int64_t most);
  // Sets the seconds of a plan that counts its copies with this share. Returns whether computation
  // takes longer.
  Result<bool> overlapCopies(Decided &decided, double exposed) const;

  // -- plans and fates ----------------------------------------------------------------------------

  // The memory within which fates are chosen.
  planner::FateBudget within(int64_t bytes) const { return {bytes, others_}; }

  using WhenTooLarge = planner::WhenTooLarge;

  planner::PlannerOptions within(WhenTooLarge whenTooLarge) const {
    planner::PlannerOptions options = options_;
    options.proven = proven_;
    options.whenTooLarge = whenTooLarge;
    return options;
  }
  // Fixes the mesh, whose axes are named as if it were not.
  void setMesh(planner::PlannerOptions &options, const Mesh &mesh) const {
    options.isOwnMesh = planner::namesByUse(options_);
    options.mesh = mesh;
  }
  planner::PlannerOptions withoutLimit(const Mesh &mesh) const {
    planner::PlannerOptions options = options_;
    options.budget = planner::Budget::unlimited();
    setMesh(options, mesh);
    return options;
  }

  // The plan of the step with these fates.
  Result<Decided> planWith(const planner::Fates &fates, planner::PlannerOptions options) {
    return decideOn(fates, std::move(options),
                    [&](const planner::StepModel &model, const planner::PlannerOptions &its) {
                      return planner::planStep(model, cluster_, its);
                    });
  }
  // The same, in which all ops but the repetitions are as in `around`.
  Result<Decided> planAround(const planner::Fates &fates, const planner::Decisions &around) {
    return decideOn(fates, within(WhenTooLarge::Search),
                    [&](const planner::StepModel &model, const planner::PlannerOptions &its) {
                      return planner::planAround(model, cluster_, its, model_, around);
                    });
  }

  template <typename Decide>
  Result<Decided> decideOn(const planner::Fates &fates, planner::PlannerOptions options,
                           Decide decide) {
    CLEAVE_TRY_ASSIGN(Decided decided, realiseFates(module_, model_, fates));
    const planner::MemoryOf memoryOf =
        memoryOfPrograms(*decided.module, decided.model, cluster_, options_.budget);
    options.memoryOf = [&](const planner::Decisions &decisions) -> Result<planner::ProgramMemory> {
      CLEAVE_TRY_ASSIGN(planner::ProgramMemory memory, memoryOf(decisions));
      least_ = std::min(least_.value_or(memory.arena), memory.arena);
      if (wholePeak_ == 0) // the first one is that of the fastest plan that keeps everything
        CLEAVE_TRY(keepWhole(decided.model, decisions, memory));
      return memory;
    };
    options.onTooLarge = [&](int64_t bytes) { tooLarge_ = bytes; };
    CLEAVE_TRY_ASSIGN(decided.plan, decide(decided.model, options));
    if (!smallest_ || decided.plan.arenaBytes < smallest_->arenaBytes)
      smallest_ = decided.plan;
    return decided;
  }

  // Keeps the memory and the seconds of the plan that keeps everything.
  Status keepWhole(const planner::StepModel &model, const planner::Decisions &decisions,
                   const planner::ProgramMemory &memory) {
    CLEAVE_TRY_ASSIGN(cluster::Cluster shared, cluster::forRanks(cluster_, decisions.mesh.ranks()));
    planner::Costs costs(model, shared, decisions.mesh);
    wholePeak_ = memory.peak;
    wholeSeconds_ = planner::secondsOf(costs, decisions);
    return Status::ok();
  }

  // `kept`: the fates that keep everything. Layouts and fates that were chosen together come first;
  // if these are not close to the bound, fates are chosen for the fastest layouts. Plans that keep
  // everything are searched last, since they must beat those with repetitions.
  Result<Decided> planInLessMemory(const planner::Fates &kept,
                                   const std::vector<planner::JointMesh> &meshes) {
    CLEAVE_TRY_ASSIGN(cluster::Cluster shared, cluster::forRanks(cluster_, options_.ranks));
    CLEAVE_TRY_ASSIGN(std::unique_ptr<planner::Costs> costs, repeatAround(meshes, shared));
    if (!isGood())
      CLEAVE_TRY(repeatThenSplit(kept, *costs));
    if (isGood())
      return finish();
    if (isHopeless())
      return refusal(/*isProven=*/false);
    planner::PlannerOptions options = within(WhenTooLarge::Search);
    options.cutoffSeconds = cutoff();
    if (maySplit())
      CLEAVE_TRY(keepBest(planWith(kept, options)));
    if (!best_)
      CLEAVE_TRY(repeatOften(*costs, kept));
    if (best_)
      return finish();
    if (options_.whenTooLarge != WhenTooLarge::Explain)
      return Status::infeasible("no plan was found that fits");
    return explain(kept, std::min_element(tried_.begin(), tried_.end())->fates);
  }

  // Sets the mesh of plans with repetitions, and searches fates for layouts that were chosen
  // together with fates, if there are any. Returns the costs on that mesh, which refer to `shared`.
  Result<std::unique_ptr<planner::Costs>>
  repeatAround(const std::vector<planner::JointMesh> &meshes, const cluster::Cluster &shared) {
    CLEAVE_TRY_ASSIGN(std::optional<Base> base, chooseBase(meshes));
    mesh_ = base ? base->plan->mesh : meshes[0].mesh;
    auto costs = std::make_unique<planner::Costs>(model_, shared, *mesh_);
    if (base)
      CLEAVE_TRY(searchFates(*costs, *base->plan, /*isAround=*/true, 1, std::move(base->chosen)));
    return costs;
  }

  // Fates with several repetitions of an op, for layouts of a plan that keeps everything.
  Status repeatOften(planner::Costs &costs, const planner::Fates &kept) {
    CLEAVE_TRY_ASSIGN(Decided whole, planWith(kept, withoutLimit(*mesh_)));
    return searchFates(costs, whole.plan, /*isAround=*/true, kRepetitions);
  }

  // Fates for the layouts that are best without a limit, and no others.
  Result<Decided> shardThenRepeat(const planner::Fates &kept) {
    planner::PlannerOptions options = options_;
    options.budget = planner::Budget::unlimited();
    CLEAVE_TRY_ASSIGN(Decided whole, planWith(kept, options));
    mesh_ = whole.plan.mesh;
    CLEAVE_TRY_ASSIGN(cluster::Cluster shared, cluster::forRanks(cluster_, options_.ranks));
    planner::Costs costs(model_, shared, *mesh_);
    CLEAVE_TRY(searchFates(costs, whole.plan, /*isAround=*/true));
    if (best_)
      return finish();
    return Status::infeasible("with the layouts that are best without a limit, no choice of what ",
                              "is computed again was found that fits into ", bytesText(budget_),
                              "; without the pin sharding-first layouts may be split more finely");
  }

  // Whether even the smallest program takes so much more than the budget that none within it is
  // worth a search.
  bool isHopeless() const {
    return !best_ && smallest_ && smallest_->arenaBytes > kHopeless * budget_;
  }

  // Whether layouts that are split more finely may be better than the best plan. Not if keeping
  // everything takes so much more than the budget, nor where networks of layouts, which know one
  // micro-batch, count a fraction of the bytes of a stage.
  bool maySplit() const {
    const bool isInFlight =
        llvm::any_of(model_.inFlight, [](int64_t microBatches) { return microBatches > 1; });
    return !best_ || (!isInFlight && wholePeak_ <= kHopeless * budget_);
  }

  // No plan fits. Looks for a small program, so that the message can name it: fates for the layouts
  // that take the least bytes, and the recipe that keeps little.
  Result<Decided> refuse(const std::vector<planner::JointMesh> &meshes) {
    CLEAVE_TRY_ASSIGN(cluster::Cluster shared, cluster::forRanks(cluster_, options_.ranks));
    CLEAVE_TRY(repeatAround(meshes, shared).status());
    planner::PlannerOptions options = options_;
    options.budget = planner::Budget::unlimited();
    const planner::Fates full = planner::fullRecompute(model_);
    const Status status = planWith(planner::withForced(model_, full, *forced_), options).status();
    CLEAVE_TRY(unlessInfeasible(status));
    return smallest_ ? refusal(/*isProven=*/true) : status; // no plan: memory is not the reason
  }
  Result<Decided> refusal(bool isProven) const {
    return Status::infeasible(refusalText(*smallest_, smallest_->arenaBytes, budget_, isProven));
  }

  // Fates for the fastest layouts, and the recipes; then for layouts that are split more finely.
  Status repeatThenSplit(const planner::Fates &kept, planner::Costs &costs) {
    CLEAVE_TRY_ASSIGN(Decided whole, planWith(kept, withoutLimit(*mesh_)));
    CLEAVE_TRY(searchFates(costs, whole.plan, /*isAround=*/false));
    for (const planner::Fates &recipe :
         {planner::selectiveRecompute(model_), planner::fullRecompute(model_)})
      CLEAVE_TRY(tryFates(recipe, nullptr).status());
    if (isHopeless() || !maySplit())
      return Status::ok();
    const Tried &best = *std::min_element(tried_.begin(), tried_.end());
    planner::PlannerOptions options = within(WhenTooLarge::Search);
    setMesh(options, *mesh_);
    options.cutoffSeconds = cutoff();
    CLEAVE_TRY(keepBest(planWith(best.fates, options)));
    return splitThenRepeat(kept, costs);
  }

  // Seconds that another plan must beat.
  double cutoff() const { return best_ ? best_->plan.seconds : solver::kForbidden; }
  bool isGood() const { return best_ && (options_.isAnyEnough || best_->plan.gap < kGoodGap); }
  // Keeps a plan if it beats the best one. Fails as it failed, unless it only did not fit.
  Status keepBest(Result<Decided> decided) {
    if (decided && decided->plan.seconds < cutoff())
      best_ = std::move(*decided);
    return unlessInfeasible(decided.status());
  }

  Decided finish() {
    best_->recomputation = summary(*best_);
    return std::move(*best_);
  }

  // Repetitions for a plan that is split more finely already, such that it needs not much more than
  // the budget.
  Status splitThenRepeat(const planner::Fates &kept, planner::Costs &costs) {
    planner::PlannerOptions options = within(WhenTooLarge::Search);
    setMesh(options, *mesh_);
    options.cutoffSeconds = cutoff();
    planner::PlannerOptions larger = options;
    larger.budget = budget_ + budget_ / kLargerShare;
    Result<Decided> base = planWith(kept, larger);
    CLEAVE_TRY(unlessInfeasible(base.status()));
    int64_t target = budget_;
    for (int round = 0; base && round < kSplitRounds; ++round, target -= budget_ / kShare) {
      Result<planner::ChosenFates> chosen =
          planner::chooseFates(costs, base->plan, *forced_, within(target), options_.solve);
      CLEAVE_TRY(unlessInfeasible(chosen.status()));
      if (!chosen || !chosen->isFitting)
        break;
      Result<Decided> plan =
          planWith(planner::withForced(model_, chosen->fates, *forced_), options);
      if (plan)
        return keepBest(std::move(plan));
      CLEAVE_TRY(unlessInfeasible(plan.status()));
    }
    return Status::ok();
  }

  // The message that nothing fits: of two failures the one that needs less is told.
  Result<Decided> explain(const planner::Fates &kept, const planner::Fates &best) {
    planner::PlannerOptions options = within(WhenTooLarge::Explain);
    Result<Decided> first = planWith(kept, options);
    const std::optional<int64_t> needed = tooLarge_;
    CLEAVE_TRY(unlessInfeasible(first.status()));
    if (first)
      return first;
    setMesh(options, *mesh_);
    Result<Decided> again = planWith(best, options);
    const bool needsLess = tooLarge_ && (!needed || *tooLarge_ < *needed);
    return again || needsLess ? std::move(again) : std::move(first);
  }

  // Layouts, and what is recomputed so that they fit into the budget.
  struct Base {
    const planner::PricedDecisions *plan;
    planner::ChosenFates chosen;

    // Bytes beyond the budget.
    int64_t missing(int64_t budget) const {
      return chosen.isFitting ? 0 : chosen.peakBytes - budget;
    }
    double seconds() const { return plan->seconds + chosen.seconds; }
  };

  // Picks, among the layouts that the meshes suggest, those with the fastest plan within the
  // budget, or else those that exceed it least; nothing if no mesh suggests any. Only the first
  // meshes, which have the lowest bounds, are compared.
  Result<std::optional<Base>> chooseBase(const std::vector<planner::JointMesh> &meshes) {
    CLEAVE_TRY_ASSIGN(cluster::Cluster shared, cluster::forRanks(cluster_, options_.ranks));
    std::optional<Base> best;
    auto needed = [&](const Base &base) {
      return std::pair(base.missing(budget_), base.seconds());
    };
    for (const planner::JointMesh &mesh : meshes) {
      if (&mesh - meshes.data() >= kBases && best)
        break;
      if (!mesh.base ||
          (best && best->missing(budget_) == 0 && mesh.boundSeconds >= best->seconds()))
        continue;
      planner::Costs costs(model_, shared, mesh.mesh);
      Result<planner::ChosenFates> chosen =
          planner::chooseFates(costs, *mesh.base, *forced_, within(firstTarget()), options_.solve);
      CLEAVE_TRY(unlessInfeasible(chosen.status()));
      if (!chosen)
        continue;
      Base base{&*mesh.base, std::move(*chosen)};
      if (!best || needed(base) < needed(*best))
        best = std::move(base);
    }
    return best;
  }

  // The memory for which fates are chosen first. With other spaces, a little less than the budget
  // costs next to nothing, and fits at once.
  int64_t firstTarget() const {
    return options_.spaces.any() ? budget_ - budget_ / kFine : budget_;
  }

  // Chooses fates for targets around the budget until the realised step just fits. `isAround`: all
  // ops but the repetitions stay as they are in the plan. No op runs again more than `repetitions`
  // times. `first`: those for the first target, if they are known.
  Status searchFates(planner::Costs &costs, const planner::PricedDecisions &plan, bool isAround,
                     int repetitions = 1, std::optional<planner::ChosenFates> first = {}) {
    int64_t target = firstTarget(), fitting = 0;
    std::optional<int64_t> tooLarge;
    auto isClosed = [&] { return tooLarge && *tooLarge - fitting <= budget_ / kFine; };
    for (int round = 0; round < kRounds && !isClosed(); ++round) {
      Result<planner::ChosenFates> chosen =
          first ? Result<planner::ChosenFates>(*std::exchange(first, std::nullopt))
                : planner::chooseFates(costs, plan, *forced_, within(target), options_.solve,
                                       repetitions);
      CLEAVE_TRY(unlessInfeasible(chosen.status()));
      if (!chosen || isNoFaster(plan, *chosen))
        return Status::ok();
      CLEAVE_TRY_ASSIGN(int64_t slack, tryFates(chosen->fates, isAround ? &plan : nullptr));
      if (best_ && options_.isAnyEnough)
        return Status::ok();
      if (slack >= 0)
        fitting = std::max(fitting, target);
      else
        tooLarge = std::min(tooLarge.value_or(target), target);
      const bool isClose = best_ && best_->plan.gap < kCloseGap;
      const int64_t least = budget_ / (isClose || options_.spaces.any() ? kCoarse : kFine);
      if (slack >= 0 ? slack < least : !chosen->isFitting)
        break;
      // Half of the least slack is left, so that a plan that differs a little fits.
      target = (slack < 0 ? std::min(target, chosen->peakBytes) : target) + slack - least / 2;
      if (tooLarge && (target <= fitting || target >= *tooLarge))
        target = fitting + (*tooLarge - fitting) / 2;
    }
    return fitting > 0 && !options_.spaces.any()
               ? tryLess(costs, plan, isAround, repetitions, fitting)
               : Status::ok();
  }

  // Whether repetitions that fit make the plan as slow as the best one.
  bool isNoFaster(const planner::PricedDecisions &plan, const planner::ChosenFates &chosen) const {
    return best_ && chosen.isFitting && plan.seconds + chosen.seconds >= best_->plan.seconds;
  }

  // The network of fates does not know all that a repetition costs. So fates for less memory may
  // lead to a faster plan than those for `target`: they are tried as long as the network says so.
  // With other spaces, copies for less memory run beside computation as well.
  Status tryLess(planner::Costs &costs, const planner::PricedDecisions &plan, bool isAround,
                 int repetitions, int64_t target) {
    solver::SolveOptions limits = options_.solve;
    for (int round = 0; round < kLessRounds && best_ && target > budget_ / kLess; ++round) {
      target -= budget_ / kLess;
      if (!options_.spaces.any())
        limits.cutoff = best_->plan.seconds - plan.seconds;
      Result<planner::ChosenFates> chosen =
          planner::chooseFates(costs, plan, *forced_, within(target), limits, repetitions);
      CLEAVE_TRY(unlessInfeasible(chosen.status()));
      if (!chosen || !chosen->isFitting || isNoFaster(plan, *chosen))
        break;
      CLEAVE_TRY(tryFates(chosen->fates, isAround ? &plan : nullptr).status());
    }
    return Status::ok();
  }

  // Plans with these fates and without a limit. Returns the bytes that are left of the budget;
  // negative: that are missing.
  Result<int64_t> tryFates(const planner::Fates &chosen, const planner::Decisions *around) {
    planner::Fates fates = planner::withForced(model_, chosen, *forced_);
    for (const Tried &tried : tried_)
      if (tried.fates == fates && tried.isAround == (around != nullptr))
        return tried.slack;
    Result<Decided> decided =
        around ? planAround(fates, *around) : planWith(fates, withoutLimit(*mesh_));
    if (around && decided.status().kind() == StatusKind::Infeasible)
      return -budget_; // other fates may go with these layouts
    CLEAVE_TRY(decided.status());
    const planner::Plan &plan = decided->plan;
    int64_t slack =
        budget_ - planner::ProgramMemory{plan.peakBytes, plan.arenaBytes}.forBudget(budget_);
    if (!options_.spaces.hold(plan.hostBytes, plan.fileBytes)) { // placed with gaps
      others_.host -= others_.host / kShare;
      others_.file -= others_.file / kShare;
      slack = std::min(slack, -budget_ / kFine);
    }
    tried_.push_back({std::move(fates), slack, decided->plan.seconds, around != nullptr});
    if (around && slack >= 0)
      CLEAVE_TRY(keepBest(std::move(decided)));
    return slack;
  }

  std::string summary(const Decided &decided) const {
    const size_t again = decided.plan.repetitions.size();
    if (again == 0)
      return "";
    return concat(again, " activations are recomputed in the backward pass: ",
                  bytesText(decided.plan.peakBytes), " at the peak instead of ",
                  bytesText(wholePeak_), ", ", secondsText(decided.plan.seconds),
                  " per step instead of ", secondsText(wholeSeconds_),
                  "; the bound covers all plans within this budget whose recomputed values keep "
                  "their original layout");
  }

  // Fates that were realised and planned.
  struct Tried {
    planner::Fates fates;
    int64_t slack = 0;  // bytes of the budget that are left
    double seconds = 0; // per step
    bool isAround = false;

    // The better ones come first: the fastest that fit, then those that miss the fewest bytes.
    bool operator<(const Tried &other) const {
      if (slack >= 0 && other.slack >= 0)
        return seconds < other.seconds;
      return slack > other.slack;
    }
  };

  mlir::ModuleOp module_;
  mlir::OwningOpRef<mlir::ModuleOp> realised_; // owns it if it is not the given one
  const cluster::Cluster &given_;
  cluster::Cluster cluster_; // the given one, perhaps with faster links to other spaces
  const planner::PlannerOptions &options_;
  planner::StepModel model_; // of the step as it is
  std::optional<planner::ForcedFates> forced_;
  std::optional<Mesh> mesh_;                      // of plans with repetitions
  int64_t budget_ = 0;                            // bytes of one rank, once a plan exceeded them
  planner::OtherSpaces others_ = options_.spaces; // for what fates are chosen
  int64_t wholePeak_ = 0;                         // bytes of the fastest plan that keeps everything
  double wholeSeconds_ = 0;                       // of that plan, per step
  std::optional<planner::Proven> proven_;         // of all plans, once it is known
  std::vector<Tried> tried_;
  std::optional<Decided> best_;           // the fastest plan that fits
  std::optional<planner::Plan> smallest_; // the plan with the smallest program
  // Bytes of the smallest program of the last plan that did not fit.
  std::optional<int64_t> tooLarge_;
  std::optional<int64_t> least_; // bytes of the smallest program
};

} // namespace cleave::driver
