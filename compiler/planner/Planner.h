// Planner: from a step and a cluster to a Plan. Tries meshes, builds the cost network of each
// (PlanProblem.h), has it solved, and explains the answer.
#pragma once

#include "compiler/cluster/Cluster.h"
#include "compiler/planner/Pins.h"
#include "compiler/planner/Plan.h"
#include "compiler/solver/Solver.h"

#include <functional>

namespace cleave::planner {

// Fewer iterations than the solver's own defaults: where memory binds, the benchmark GPT takes a fifth of the time and its
// gap grows from 0.32 % to 0.36 %; elsewhere it is closed long before.
inline solver::SolveOptions defaultLimits() {
  solver::SolveOptions options;
  options.maxIterations = 40;
  options.maxSearchRounds = 20;
  options.maxBranches = 20;
  return options;
}

struct PlannerOptions {
  int64_t ranks = 1;
  std::optional<Mesh> mesh; // empty: chosen
  int64_t memoryBytes = 0;  // of one rank; 0: what the cluster has
  Pins pins;
  solver::SolveOptions solve = defaultLimits();
  size_t maxReasons = 40; // ops explained, besides all parameters
  // Given every network that is solved, before it is; what it fails with ends the planning. May be empty.
  std::function<Status(const Mesh &, const solver::Problem &)> onNetwork;
};

// Nothing fits: an infeasible status that says how many bytes are missing, what takes them, and
// ways out. Bad options: a user error.
Result<Plan> planStep(const StepModel &model, const cluster::Cluster &cluster,
                      const PlannerOptions &options);

// The meshes that are tried for so many ranks: one axis `dp`, and all products of two, `dp` x `tp`.
std::vector<Mesh> candidateMeshes(int64_t ranks);

} // namespace cleave::planner
