#include "compiler/planner/search/Trials.h"

#include <algorithm>
#include <utility>

namespace cleave::planner {

Status unlessInfeasible(const Status &status) {
  return status.kind() == StatusKind::Infeasible ? Status::ok() : status;
}

Trials::Trials(const Step &step, const cluster::Cluster &cluster, PlannerOptions options,
               const Goal &goal, Seen &seen, std::optional<Proven> proven)
    : step_(step), cluster_(cluster), options_(std::move(options)), goal_(goal), seen_(seen),
      proven_(std::move(proven)) {}

Result<cluster::Cluster> Trials::shared() const {
  return cluster::forRanks(cluster_, options_.ranks);
}

TrialOptions Trials::within(WhenTooLarge whenTooLarge) const {
  TrialOptions options = options_;
  options.proven = proven_;
  options.whenTooLarge = whenTooLarge;
  return options;
}

TrialOptions Trials::withoutLimit() const {
  TrialOptions options = options_;
  options.budget = Budget::unlimited();
  return options;
}

// A failed trial that did at least as much. All trials are of one step under one set of pins.
const Trials::Failure *Trials::failureOf(const RematPolicy &policy,
                                         const TrialOptions &options) const {
  const auto found = std::ranges::find_if(failures_, [&](const Failure &failure) {
    const TrialOptions &its = failure.options;
    return its.mesh == options.mesh && its.budget == options.budget &&
           its.cutoffSeconds == options.cutoffSeconds && its.whenTooLarge >= options.whenTooLarge &&
           failure.policy == policy;
  });
  return found == failures_.end() ? nullptr : &*found;
}

Result<PlannedStep> Trials::plan(const RematPolicy &policy, const TrialOptions &options) const {
  if (const Failure *failure = failureOf(policy, options)) {
    seen_.lastBytes = failure->bytes;
    return failure->status;
  }
  Result<PlannedStep> planned =
      record(policy, options, [&](const StepModel &model, const TrialOptions &its) {
        return planStep(model, cluster_, its);
      });
  if (planned.status().kind() == StatusKind::Infeasible)
    failures_.push_back({policy, options, planned.status(), seen_.lastBytes});
  return planned;
}

Result<PlannedStep> Trials::planAround(const RematPolicy &policy, const Decisions &around) const {
  return record(policy, within(WhenTooLarge::Search),
                [&](const StepModel &model, const TrialOptions &its) {
                  return planner::planAround(model, cluster_, its, step_.model(), around);
                });
}

// Plans the step with this policy and records its programs.
Result<PlannedStep> Trials::record(const RematPolicy &policy, TrialOptions options,
                                   const Plans &plans) const {
  PlannedStep planned;
  planned.policy = policy;
  CLEAVE_TRY_ASSIGN(planned.step, step_.realise(policy));
  const StepModel &model = planned.step->model();
  const MemoryOf memoryOf = planner::memoryOf(*planned.step, cluster_, options_.budget);
  seen_.lastBytes.reset();
  options.memoryOf = [&](const Decisions &decisions) -> Result<ProgramMemory> {
    CLEAVE_TRY_ASSIGN(const ProgramMemory memory, memoryOf(decisions));
    for (std::optional<int64_t> *least : {&seen_.leastBytes, &seen_.lastBytes})
      *least = std::min(least->value_or(memory.arena), memory.arena);
    if (!seen_.whole) {
      CLEAVE_TRY_ASSIGN(seen_.whole, wholeOf(model, decisions, memory));
    }
    return memory;
  };
  CLEAVE_TRY_ASSIGN(planned.plan, plans(model, options));
  if (!seen_.smallest || planned.plan.arenaBytes < seen_.smallest->arenaBytes)
    seen_.smallest = planned.plan;
  if (options_.onPlan)
    options_.onPlan(planned.plan);
  return planned;
}

Result<Seen::Whole> Trials::wholeOf(const StepModel &model, const Decisions &decisions,
                                    const ProgramMemory &memory) const {
  CLEAVE_TRY_ASSIGN(const cluster::Cluster shared,
                    cluster::forRanks(cluster_, decisions.mesh.ranks()));
  Costs costs(model, shared, decisions.mesh);
  return Seen::Whole{memory.peak, secondsOf(costs, decisions)};
}

} // namespace cleave::planner
