// See Mesh.h.
#include "runtime/artifact/Mesh.h"

#include "runtime/base/DType.h"
#include "runtime/base/MeshCoordinates.h"

#include <algorithm>

namespace cleave::artifact {

uint32_t rankCount(const plan::Plan &plan) {
  uint32_t count = 1;
  for (const plan::MeshAxis &axis : plan.mesh())
    count *= axis.size();
  return count;
}

Mesh meshOf(const plan::Plan &plan) {
  Mesh mesh;
  for (const plan::MeshAxis &axis : plan.mesh())
    mesh.axes.push_back({axis.name(), axis.size()});
  return mesh;
}

void setMesh(const Mesh &mesh, plan::Plan &plan) {
  plan.clear_mesh();
  for (const MeshAxis &axis : mesh.axes) {
    plan::MeshAxis *out = plan.add_mesh();
    out->set_name(axis.name);
    out->set_size(static_cast<uint32_t>(axis.size));
  }
}

std::vector<uint32_t> coordinatesOf(const plan::Plan &plan, uint32_t rank) {
  std::vector<int64_t> coordinates = meshCoordinates(meshOf(plan).sizes(), rank);
  return {coordinates.begin(), coordinates.end()};
}

std::vector<uint32_t> groupOf(const plan::Plan &plan, uint32_t rank,
                              std::span<const uint32_t> axes) {
  std::vector<int64_t> group =
      meshGroup(meshOf(plan).sizes(), std::vector<int64_t>(axes.begin(), axes.end()), rank);
  return {group.begin(), group.end()};
}

int64_t RankBlock::elements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

RankBlock blockOf(const plan::Plan &plan, const plan::Tensor &tensor, uint32_t rank) {
  std::vector<uint32_t> coordinates = coordinatesOf(plan, rank);
  RankBlock block;
  for (int dim = 0; dim < tensor.shape_size(); ++dim) {
    int64_t parts = 1, index = 0, size = tensor.shape(dim);
    if (dim < tensor.sharding_size())
      for (uint32_t axis : tensor.sharding(dim).axes()) {
        index = index * plan.mesh(axis).size() + coordinates[axis];
        parts *= plan.mesh(axis).size();
      }
    int64_t length = (size + parts - 1) / parts;
    int64_t begin = std::min(index * length, size);
    block.begin.push_back(begin);
    block.extent.push_back(std::min(length, size - begin));
    block.shape.push_back(length);
  }
  return block;
}

uint64_t byteSize(plan::DType dtype) {
  std::optional<DType> known = dtypeFromNumber(int(dtype));
  return known ? uint64_t(cleave::byteSize(*known)) : 0;
}

std::string dtypeName(plan::DType dtype) {
  std::optional<DType> known = dtypeFromNumber(int(dtype));
  return known ? std::string(name(*known)) : "no dtype";
}

} // namespace cleave::artifact
