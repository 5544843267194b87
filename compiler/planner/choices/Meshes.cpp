#include "compiler/planner/choices/Meshes.h"

#include "runtime/base/Concat.h"

#include <algorithm>
#include <charconv>

namespace cleave::planner {

std::string axesText(const std::vector<int> &axes, const Mesh &mesh) {
  std::string text;
  for (int axis : axes)
    text += (text.empty() ? "" : "+") + mesh.axes[axis].name;
  return text;
}

std::string str(const Mesh &mesh) {
  std::string text;
  for (const MeshAxis &axis : mesh.axes)
    text += concat(text.empty() ? "" : ",", axis.name, "=", axis.size);
  return text;
}

std::optional<Mesh> parseMesh(const std::string &text) {
  Mesh mesh;
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find(',', at), text.size());
    std::string part = text.substr(at, end - at);
    size_t equals = part.find('=');
    if (equals == std::string::npos || equals == 0)
      return std::nullopt;
    MeshAxis axis{part.substr(0, equals), 0};
    const char *last = part.data() + part.size();
    auto [stop, error] = std::from_chars(part.data() + equals + 1, last, axis.size);
    if (error != std::errc() || stop != last || axis.size < 1 || mesh.axisIndex(axis.name) >= 0)
      return std::nullopt;
    mesh.axes.push_back(std::move(axis));
    at = end + 1;
  }
  return mesh;
}

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
