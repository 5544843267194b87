// Coordinates, groups and blocks: see Mesh.h.
#include "runtime/artifact/Mesh.h"

#include <algorithm>

namespace cleave::runtime {

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
  switch (dtype) {
  case plan::F64:
  case plan::I64:
    return 8;
  case plan::F32:
  case plan::I32:
    return 4;
  case plan::F16:
  case plan::BF16:
  case plan::I16:
    return 2;
  case plan::I8:
  case plan::U8:
  case plan::BOOL:
    return 1;
  default:
    return 0;
  }
}

const char *dtypeName(plan::DType dtype) {
  switch (dtype) {
  case plan::F32:
    return "f32";
  case plan::F64:
    return "f64";
  case plan::F16:
    return "f16";
  case plan::BF16:
    return "bf16";
  case plan::I8:
    return "i8";
  case plan::I16:
    return "i16";
  case plan::I32:
    return "i32";
  case plan::I64:
    return "i64";
  case plan::U8:
    return "u8";
  case plan::BOOL:
    return "bool";
  default:
    return "no dtype";
  }
}

} // namespace cleave::runtime
