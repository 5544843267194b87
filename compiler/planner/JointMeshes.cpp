// The price of a byte on one mesh is a good first one on the next.
#include "compiler/planner/JointMeshes.h"

#include "compiler/planner/Decide.h"
#include "compiler/planner/Explain.h"

#include <algorithm>

namespace cleave::planner {

static Plan baseOf(const StepModel &model, const cluster::Cluster &shared, const Joint &joint,
                   const Mesh &mesh) {
  Costs costs(model, shared, mesh);
  Plan base{decide(costs, joint.kept, joint.choices)};
  base.seconds = secondsOf(costs, base);
  base.holdings = holdingsOf(joint.kept, joint.choices);
  return base;
}

Result<std::vector<JointMesh>> jointMeshes(const StepModel &model, const cluster::Cluster &cluster,
                                           const PlannerOptions &options, const ForcedFates &forced,
                                           int64_t memoryBytes) {
  CLEAVE_TRY_ASSIGN(cluster::Cluster shared, cluster::forRanks(cluster, options.ranks));
  const StepModel roomy = withRoomForRepetitions(model);
  Pins pins = options.pins;
  pins.prepare(roomy);
  std::vector<JointMesh> meshes;
  JointHint hint;
  for (const Mesh &mesh : meshesToTry(options)) {
    Costs costs(roomy, shared, mesh);
    Result<Joint> joint =
        boundJointly(costs, pins, forced, memoryBytes, hint, options.choices, options.solve);
    if (joint.status().kind() == StatusKind::Infeasible)
      continue; // another mesh may do
    CLEAVE_TRY(joint.status());
    if (joint->secondsPerByte > 0)
      hint = {joint->secondsPerByte, joint->instant, hint.enough};
    hint.enough = std::min(hint.enough, joint->lowerBound);
    JointMesh &found = meshes.emplace_back(JointMesh{mesh, joint->lowerBound, {}});
    if (!joint->choices.empty())
      found.base = baseOf(model, shared, *joint, mesh);
  }
  std::stable_sort(meshes.begin(), meshes.end(), [](const JointMesh &a, const JointMesh &b) {
    return a.boundSeconds < b.boundSeconds;
  });
  return meshes;
}

} // namespace cleave::planner
