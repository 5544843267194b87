// PlannedStep: the plan of a step for given decisions on what is recomputed.
#pragma once

#include "compiler/planner/network/PricedDecisions.h"
#include "compiler/planner/search/Planner.h"
#include "compiler/planner/search/Step.h"

#include <memory>
#include <optional>
#include <string>

namespace cleave::planner {

// A step with its recomputed ops, and the plan of it.
struct PlannedStep {
  std::unique_ptr<Step> step; // with the recomputed ops
  RematPolicy policy;         // of the step without them
  PlanReport plan;            // of `step`
  // The layouts for which the policy was chosen: decisions on the step without recomputed ops,
  // which all other ops keep. Nothing if layouts were chosen for the policy.
  std::optional<PricedDecisions> around;
  std::string recomputation; // one sentence; empty if nothing is recomputed to save memory
};

// TrialOptions::memoryOf for plans of this step on any mesh. `step` and `cluster` must live as
// long as the function.
MemoryOf memoryOf(const Step &step, const cluster::Cluster &cluster, const Budget &budget);

// Realises the policy in the step and plans its sharding. Errors as of Step::realise and planStep.
Result<PlannedStep> planWithPolicy(const Step &step, const RematPolicy &policy,
                                   const cluster::Cluster &cluster, TrialOptions options);

} // namespace cleave::planner
