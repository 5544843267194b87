// JointMeshes: the joint bounds of all meshes (JointBound.h), and the plans without recomputation
// that they suggest to choose a policy for, of which one is picked.
#pragma once

#include "compiler/planner/remat/JointBound.h"
#include "compiler/planner/search/Planner.h"

namespace cleave::planner {

// A mesh, with the bound on all plans on it.
struct JointMesh {
  Mesh mesh;
  double boundSeconds = 0; // of any plan on it within the budget; kForbidden: none fits
  // Keep everything in the layouts of the best price. Nothing: none are known.
  std::optional<PricedDecisions> base;
  // The price of a byte, and the instant at which memory has it, with which the bound holds.
  double secondsPerByte = 0;
  int64_t instant = -1;
};

// How tight the lowest bound is. Tight: its mesh is bounded again with more effort, until it is the
// lowest once more.
enum class Bounding { Quick, Tight };

// The meshes to try (meshesToTry), by rising bound; those on which pins leave an op without choices
// are left out.
Result<std::vector<JointMesh>> jointMeshes(const StepModel &model, const cluster::Cluster &cluster,
                                           const PlannerOptions &options, const PinnedRemat &pinned,
                                           Bounding bounding = Bounding::Tight);

// Layouts that a mesh suggests, and what is recomputed so that they fit into a budget.
struct Base {
  const PricedDecisions *plan; // JointMesh::base
  ChosenRemat chosen;

  double seconds() const { return plan->seconds + chosen.seconds; } // per step
};

// Picks, among the layouts that the meshes suggest, those with the fastest plan within the budget
// of the options, or else those that exceed it least; nothing if no mesh suggests any. `meshes`, by
// rising bound, must outlive the result; only the first few are compared. `shared`: the cluster as
// all ranks see it (cluster::forRanks).
Result<std::optional<Base>> chooseBase(const std::vector<JointMesh> &meshes, const StepModel &model,
                                       const cluster::Cluster &shared,
                                       const PlannerOptions &options, const PinnedRemat &pinned);

} // namespace cleave::planner
