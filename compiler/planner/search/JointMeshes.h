// JointMeshes: the joint bounds of all meshes (JointBound.h), and the plans without repetitions
// that they suggest to choose fates for.
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

// The meshes to try (meshesToTry), by rising bound; those on which pins leave an op without choices
// are left out.
Result<std::vector<JointMesh>> jointMeshes(const StepModel &model, const cluster::Cluster &cluster,
                                           const PlannerOptions &options,
                                           const ForcedFates &forced);

} // namespace cleave::planner
