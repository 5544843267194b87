// Trials: the plans that a search makes of one step, each with its own policy, and the extremes
// among their programs, which corrections and refusals need.
#pragma once

#include "compiler/planner/search/PlannedStep.h"

#include <functional>
#include <optional>

namespace cleave::planner {

// The extremes among the programs of a search.
struct Seen {
  struct Whole {
    int64_t peakBytes = 0;
    double seconds = 0; // per step
  };
  std::optional<Whole> whole;         // the fastest plan that keeps everything: the first program
  std::optional<PlanReport> smallest; // the plan with the smallest program
  std::optional<int64_t> leastBytes;  // of the smallest program, of a plan or not
  std::optional<int64_t> lastBytes;   // the same of the last trial
};

// When a search ends.
struct Goal {
  // The first plan that fits is taken instead of the best one. Whether one is found does not depend
  // on that.
  bool isAnyEnough = false;
  WhenTooLarge whenTooLarge = WhenTooLarge::Explain;
};

// A failure other than that nothing fits: no other plan mends it.
Status unlessInfeasible(const Status &status);

// Plans one step. Keeps references to the step and to `seen`.
class Trials {
public:
  // `proven`: what is known of all plans within the budget of the options.
  Trials(const Step &step, const cluster::Cluster &cluster, PlannerOptions options,
         const Goal &goal, Seen &seen, std::optional<Proven> proven = {});

  const StepModel &model() const { return step_.model(); }
  const PlannerOptions &options() const { return options_; }
  const Goal &goal() const { return goal_; }
  const Seen &seen() const { return seen_; }
  // Bytes of the budget of one rank, which must be limited.
  int64_t budget() const { return options_.budget.bytes(); }
  // The cluster as all ranks see it (cluster::forRanks).
  Result<cluster::Cluster> shared() const;

  // Options for plans within the budget.
  TrialOptions within(WhenTooLarge whenTooLarge) const;
  // Options for the fastest plan, however much memory it needs.
  TrialOptions withoutLimit() const;

  // The plan of the step with this policy. Errors as of planWithPolicy; a trial that failed for
  // want of memory is not repeated.
  Result<PlannedStep> plan(const RematPolicy &policy, const TrialOptions &options) const;
  // The plan in which all ops but the recomputed ones are as in `around`, decisions on the step
  // without them. It may exceed the budget. Infeasible if `around` does not permit the recomputed
  // ops.
  Result<PlannedStep> planAround(const RematPolicy &policy, const Decisions &around) const;

private:
  using Plans = std::function<Result<PlanReport>(const StepModel &, const TrialOptions &)>;
  Result<PlannedStep> record(const RematPolicy &policy, TrialOptions options,
                             const Plans &plans) const;
  // A trial that found no plan.
  struct Failure {
    RematPolicy policy;
    TrialOptions options;
    Status status;
    std::optional<int64_t> bytes; // of its smallest program
  };
  const Failure *failureOf(const RematPolicy &policy, const TrialOptions &options) const;
  Result<Seen::Whole> wholeOf(const StepModel &model, const Decisions &decisions,
                              const ProgramMemory &memory) const;

  const Step &step_;
  cluster::Cluster cluster_;
  PlannerOptions options_;
  Goal goal_;
  Seen &seen_;
  std::optional<Proven> proven_;
  mutable std::vector<Failure> failures_;
};

} // namespace cleave::planner
