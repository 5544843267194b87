// Plan: the planner's options in the text forms that users write, and the pass that plans a step.
#pragma once

#include "compiler/cluster/Cluster.h"
#include "compiler/planner/search/Planner.h"

#include <cstdint>
#include <string>

namespace cleave::shard {

// Options as users write them (docs/interface.md).
struct PlanRequest {
  int64_t ranks = 1;
  int64_t memoryBytes = 0; // of one rank; 0: those of the cluster
  std::string mesh;        // AXIS=N,...; empty: the planner chooses
  std::string pin;         // recipe or file; empty: none
};

// The planner's options; a user error names the option. The ranks of a CPU are one node.
Result<planner::PlannerOptions> plannerOptions(const PlanRequest &request,
                                               const cluster::Cluster &cluster);

// Registers --cleave-shard-plan.
void registerPlanPass();

} // namespace cleave::shard
