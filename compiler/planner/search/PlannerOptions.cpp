#include "compiler/planner/search/PlannerOptions.h"

#include "compiler/planner/choices/Meshes.h"

namespace cleave::planner {

std::vector<Mesh> meshesToTry(const PlannerOptions &options) {
  if (options.mesh)
    return {*options.mesh};
  if (std::optional<Mesh> mesh = options.pins.defaultMesh(options.ranks, options.nodeRanks))
    return {*mesh};
  return options.pins.namesAxis() ? candidateMeshes(options.ranks, "dp", "tp")
                                  : candidateMeshes(options.ranks);
}

bool namesByUse(const PlannerOptions &options) {
  const Pins &pins = options.pins;
  return options.isOwnMesh ||
         !(options.mesh || pins.namesAxis() || pins.defaultMesh(options.ranks, options.nodeRanks));
}

} // namespace cleave::planner
