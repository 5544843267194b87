#include "compiler/planner/choices/Meshes.h"

#include <algorithm>

namespace cleave::planner {

std::vector<Mesh> candidateMeshes(int64_t ranks, const char *first, const char *second) {
  std::vector<Mesh> meshes = {Mesh{{{first, ranks}}}};
  for (int64_t size = ranks / 2; size >= 2; --size)
    if (ranks % size == 0)
      meshes.push_back(Mesh{{{first, size}, {second, ranks / size}}});
  return meshes;
}

bool haveEqualSizes(const Mesh &a, const Mesh &b) {
  return std::equal(
      a.axes.begin(), a.axes.end(), b.axes.begin(), b.axes.end(),
      [](const MeshAxis &one, const MeshAxis &other) { return one.size == other.size; });
}

// The mesh in which axis k + 1 is joined with axis k unless bit k of `cuts` is set.
static CoarserMesh joined(const Mesh &mesh, unsigned cuts) {
  CoarserMesh result;
  for (int axis = 0; axis < static_cast<int>(mesh.axes.size()); ++axis) {
    const MeshAxis &part = mesh.axes[axis];
    if (axis == 0 || cuts >> (axis - 1) & 1) {
      result.mesh.axes.push_back(part);
      result.parts.push_back({axis});
    } else {
      result.mesh.axes.back().name += "+" + part.name;
      result.mesh.axes.back().size *= part.size;
      result.parts.back().push_back(axis);
    }
  }
  return result;
}

std::vector<CoarserMesh> coarserMeshes(const Mesh &mesh) {
  std::vector<CoarserMesh> meshes;
  if (mesh.axes.empty())
    return meshes;
  for (unsigned cuts = 0; cuts + 1 < 1u << (mesh.axes.size() - 1); ++cuts)
    meshes.push_back(joined(mesh, cuts));
  std::stable_sort(meshes.begin(), meshes.end(), [](const CoarserMesh &a, const CoarserMesh &b) {
    return a.mesh.axes.size() < b.mesh.axes.size();
  });
  return meshes;
}

} // namespace cleave::planner
