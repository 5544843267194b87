#include "compiler/planner/search/Trials.h"

#include <algorithm>
#include <utility>

namespace cleave::planner {

Status unlessInfeasible(const Status &status) {
  return status.kind() == StatusKind::Infeasible ? Status::ok() : status;
}

Trials::Trials(const Step &step, const cluster::Cluster &cluster, PlannerOptions options,
               Seen &seen, std::optional<Proven> proven)
    : step_(step), cluster_(cluster), options_(std::move(options)), seen_(seen),
      proven_(std::move(proven)) {}

Result<cluster::Cluster> Trials::shared() const {
  return cluster::forRanks(cluster_, options_.ranks);
}

PlannerOptions Trials::within(WhenTooLarge whenTooLarge) const {
  PlannerOptions options = options_;
  options.proven = proven_;
  options.whenTooLarge = whenTooLarge;
  return options;
}

PlannerOptions Trials::withoutLimit() const {
  PlannerOptions options = options_;
  options.budget = Budget::unlimited();
  return options;
}

Result<PlannedStep> Trials::plan(const Fates &fates, const PlannerOptions &options) const {
  return record(fates, options, [&](const StepModel &model, const PlannerOptions &its) {
    return planStep(model, cluster_, its);
  });
}

Result<PlannedStep> Trials::planAround(const Fates &fates, const Decisions &around) const {
  return record(fates, within(WhenTooLarge::Search),
                [&](const StepModel &model, const PlannerOptions &its) {
                  return planner::planAround(model, cluster_, its, step_.model(), around);
                });
}

// Plans the step with these fates and records its programs.
Result<PlannedStep> Trials::record(const Fates &fates, PlannerOptions options,
                                   const Plans &plans) const {
  PlannedStep planned;
  planned.fates = fates;
  CLEAVE_TRY_ASSIGN(planned.step, step_.realise(fates));
  const StepModel &model = planned.step->model();
  const MemoryOf memoryOf = planner::memoryOf(*planned.step, cluster_, options_.budget);
  options.memoryOf = [&](const Decisions &decisions) -> Result<ProgramMemory> {
    CLEAVE_TRY_ASSIGN(const ProgramMemory memory, memoryOf(decisions));
    seen_.leastBytes = std::min(seen_.leastBytes.value_or(memory.arena), memory.arena);
    if (!seen_.whole) {
      CLEAVE_TRY_ASSIGN(seen_.whole, wholeOf(model, decisions, memory));
    }
    return memory;
  };
  CLEAVE_TRY_ASSIGN(planned.plan, plans(model, options));
  if (!seen_.smallest || planned.plan.arenaBytes < seen_.smallest->arenaBytes)
    seen_.smallest = planned.plan;
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
