// Coordinates, groups and blocks: see Mesh.h.
#include "runtime/artifact/Mesh.h"

#include "runtime/base/DType.h"

#include <algorithm>

namespace cleave::artifact {

uint32_t rankCount(const plan::Plan &plan) {
  uint32_t count = 1;
  for (const plan::MeshAxis &axis : plan.mesh())
    count *= axis.size();
  return count;
}

std::vector<uint32_t> coordinatesOf(const plan::Plan &plan, uint32_t rank) {
  std::vector<uint32_t> coordinates(plan.mesh_size());
  for (int axis = plan.mesh_size() - 1; axis >= 0; --axis) {
    coordinates[axis] = rank % plan.mesh(axis).size();
    rank /= plan.mesh(axis).size();
  }
  return coordinates;
}

// The inverse of coordinatesOf.
static uint32_t rankAt(const plan::Plan &plan, const std::vector<uint32_t> &coordinates) {
  uint32_t rank = 0;
  for (int axis = 0; axis < plan.mesh_size(); ++axis)
    rank = rank * plan.mesh(axis).size() + coordinates[axis];
  return rank;
}

std::vector<uint32_t> groupOf(const plan::Plan &plan, uint32_t rank,
                              std::span<const uint32_t> axes) {
  uint32_t size = 1;
  for (uint32_t axis : axes)
    size *= plan.mesh(axis).size();
  std::vector<uint32_t> coordinates = coordinatesOf(plan, rank), group(size);
  for (uint32_t index = 0; index < size; ++index) {
    uint32_t rest = index;
    for (size_t i = axes.size(); i-- > 0;) {
      coordinates[axes[i]] = rest % plan.mesh(axes[i]).size();
      rest /= plan.mesh(axes[i]).size();
    }
    group[index] = rankAt(plan, coordinates);
  }
  return group;
}

int64_t Block::elements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

Block blockOf(const plan::Plan &plan, const plan::Tensor &tensor, uint32_t rank) {
  std::vector<uint32_t> coordinates = coordinatesOf(plan, rank);
  Block block;
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
