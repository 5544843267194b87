// Coordinates of ranks in the mesh, and the block of a tensor on each rank.
#include "dialects/interfaces/Sharding.h"

#include <cassert>

namespace cleave {

// The difference of ranks that are neighbours along `axis`.
static int64_t stride(const Mesh &mesh, int axis) {
  int64_t result = 1;
  for (size_t i = axis + 1; i < mesh.axes.size(); ++i)
    result *= mesh.axes[i].size;
  return result;
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
  std::vector<int64_t> result(axes.size());
  for (size_t i = axes.size(); i-- > 0;) {
    result[i] = rank % axes[i].size;
    rank /= axes[i].size;
  }
  assert(rank == 0 && "the rank is outside of the mesh");
  return result;
}

int64_t Mesh::indexAlong(int64_t rank, const std::vector<int> &axisIndices) const {
  int64_t index = 0;
  for (int axis : axisIndices)
    index = index * axes[axis].size + rank / stride(*this, axis) % axes[axis].size;
  return index;
}

std::vector<int64_t> Mesh::group(int64_t rank, const std::vector<int> &axisIndices) const {
  int64_t first = rank;
  for (int axis : axisIndices)
    first -= rank / stride(*this, axis) % axes[axis].size * stride(*this, axis);
  std::vector<int64_t> members = {first};
  for (int axis : axisIndices) {
    std::vector<int64_t> next;
    for (int64_t member : members)
      for (int64_t i = 0; i < axes[axis].size; ++i)
        next.push_back(member + i * stride(*this, axis));
    members = std::move(next);
  }
  return members;
}

int Mesh::axisIndex(const std::string &name) const {
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i].name == name)
      return static_cast<int>(i);
  return -1;
}

bool Sharding::isReplicated() const {
  for (const std::vector<int> &axes : dims)
    if (!axes.empty())
      return false;
  return partial.empty();
}

static std::string joinAxes(const std::vector<int> &axes, const Mesh &mesh) {
  std::string text;
  for (int axis : axes)
    text += (text.empty() ? "" : "+") + mesh.axes[axis].name;
  return text;
}

std::string Sharding::str(const Mesh &mesh) const {
  std::string text = "[";
  for (size_t d = 0; d < dims.size(); ++d)
    text += (d ? ", " : "") + (dims[d].empty() ? "_" : joinAxes(dims[d], mesh));
  text += "]";
  if (partial.empty())
    return text;
  static const char *const kinds[] = {"", "max ", "min "};
  return text + " partial(" + kinds[static_cast<int>(reduce)] + joinAxes(partial, mesh) + ")";
}

static int64_t blockSize(int64_t size, int64_t blocks) { return (size + blocks - 1) / blocks; }

std::vector<int64_t> localShape(const std::vector<int64_t> &shape, const Sharding &sharding,
                                const Mesh &mesh) {
  assert(shape.size() == sharding.dims.size() && "the sharding has another number of dims");
  std::vector<int64_t> result(shape.size());
  for (size_t d = 0; d < shape.size(); ++d)
    result[d] = blockSize(shape[d], mesh.ranksAlong(sharding.dims[d]));
  return result;
}

std::vector<int64_t> localOffset(const std::vector<int64_t> &shape, const Sharding &sharding,
                                 const Mesh &mesh, int64_t rank) {
  std::vector<int64_t> result = localShape(shape, sharding, mesh);
  for (size_t d = 0; d < shape.size(); ++d)
    result[d] *= mesh.indexAlong(rank, sharding.dims[d]);
  return result;
}

} // namespace cleave
