// See Mesh.h.
#include "runtime/base/Mesh.h"

#include "runtime/base/MeshCoordinates.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <optional>

namespace cleave {

// `dp=2`; none if the text has another form.
static std::optional<MeshAxis> parseAxis(const std::string &text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return std::nullopt;
  MeshAxis axis{text.substr(0, equals), 0};
  const char *last = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data() + equals + 1, last, axis.size);
  return error == std::errc() && stop == last ? std::optional(std::move(axis)) : std::nullopt;
}

Result<Mesh> Mesh::parse(const std::string &text) {
  const std::string malformed =
      concat("found '", text, "', expected AXIS=N,..., for example dp=2,tp=2");
  Mesh mesh;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    std::optional<MeshAxis> axis = parseAxis(text.substr(at, end - at));
    if (!axis)
      return Status::userError(malformed);
    mesh.axes.push_back(std::move(*axis));
    at = end + 1;
  }
  if (Status status = mesh.check(); !status)
    return Status::userError(malformed, ": ", status.message());
  return mesh;
}

std::string Mesh::str() const {
  std::string text;
  for (const MeshAxis &axis : axes)
    text += concat(text.empty() ? "" : ",", axis.name, "=", axis.size);
  return text;
}

Status Mesh::check() const {
  for (const MeshAxis &axis : axes) {
    if (axis.size < 1)
      return Status::userError("mesh axis \"", axis.name, "\" has ", axis.size,
                               " ranks, expected at least one");
    if (&axes[axisIndex(axis.name)] != &axis)
      return Status::userError("mesh axis \"", axis.name, "\" occurs twice");
  }
  return Status::ok();
}

std::vector<int64_t> Mesh::sizes() const {
  std::vector<int64_t> sizes;
  for (const MeshAxis &axis : axes)
    sizes.push_back(axis.size);
  return sizes;
}

int64_t Mesh::ranks() const {
  int64_t result = 1;
  for (const MeshAxis &axis : axes)
    result *= axis.size;
  return result;
}

int64_t Mesh::ranksAlong(const std::vector<int> &axisIndices) const {
  int64_t result = 1;
  for (int axis : axisIndices)
    result *= axes[axis].size;
  return result;
}

std::vector<int64_t> Mesh::coordinates(int64_t rank) const {
  assert(rank < ranks() && "the rank is outside of the mesh");
  return meshCoordinates(sizes(), rank);
}

int64_t Mesh::indexAlong(int64_t rank, const std::vector<int> &axisIndices) const {
  auto stride = [&](int axis) { // between ranks that are neighbours along it
    int64_t result = 1;
    for (size_t minor = axis + 1; minor < axes.size(); ++minor)
      result *= axes[minor].size;
    return result;
  };
  int64_t index = 0;
  for (int axis : axisIndices)
    index = index * axes[axis].size + rank / stride(axis) % axes[axis].size;
  return index;
}

std::vector<int64_t> Mesh::group(int64_t rank, const std::vector<int> &axisIndices) const {
  return meshGroup(sizes(), std::vector<int64_t>(axisIndices.begin(), axisIndices.end()), rank);
}

int Mesh::axisIndex(const std::string &name) const {
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i].name == name)
      return static_cast<int>(i);
  return -1;
}

std::string Mesh::axesText(const std::vector<int> &axisIndices) const {
  std::string text;
  for (int axis : axisIndices)
    text += (text.empty() ? "" : "+") + axes[axis].name;
  return text;
}

} // namespace cleave
