// Plan: turns the options of a command into the planner's, and has the pass that plans a step.
#pragma once

#include "compiler/cluster/Cluster.h"
#include "compiler/planner/search/Planner.h"

#include <cstdint>
#include <optional>
#include <string>

namespace cleave::shard {

// Options of a command (docs/interface.md).
struct PlanRequest {
  std::optional<int64_t> ranks;          // nothing: those of the mesh
  std::optional<planner::Budget> memory; // of one rank; nothing: what the cluster leaves it
  planner::OtherSpaces spaces;           // of one rank
  std::optional<Mesh> mesh;              // none: the planner chooses
  std::string pin;                       // recipe or file; empty: none
};

// The planner's options, with the budget of a rank; a user error names the option, or says that the
// cluster has too few devices. The ranks of a CPU are one node.
Result<planner::PlannerOptions> plannerOptions(const PlanRequest &request,
                                               const cluster::Cluster &cluster);

// Registers --cleave-shard-plan.
void registerPlanPass();

} // namespace cleave::shard
