#include "runtime/comm/Groups.h"

namespace cleave::comm {

std::vector<int64_t> coordinates(const std::vector<int64_t> &meshSizes, int rank) {
  std::vector<int64_t> result(meshSizes.size());
  int64_t rest = rank;
  for (size_t axis = meshSizes.size(); axis-- > 0;) {
    result[axis] = rest % meshSizes[axis];
    rest /= meshSizes[axis];
  }
  return result;
}

static int rankAt(const std::vector<int64_t> &meshSizes, const std::vector<int64_t> &coordinates) {
  int64_t rank = 0;
  for (size_t axis = 0; axis < meshSizes.size(); ++axis)
    rank = rank * meshSizes[axis] + coordinates[axis];
  return static_cast<int>(rank);
}

std::vector<int> groupMembers(const std::vector<int64_t> &meshSizes, const std::vector<int> &axes,
                              int rank) {
  std::vector<int64_t> position = coordinates(meshSizes, rank);
  int64_t size = 1;
  for (int axis : axes)
    size *= meshSizes[axis];
  std::vector<int> members;
  for (int64_t index = 0; index < size; ++index) {
    int64_t rest = index;
    for (size_t i = axes.size(); i-- > 0;) {
      position[axes[i]] = rest % meshSizes[axes[i]];
      rest /= meshSizes[axes[i]];
    }
    members.push_back(rankAt(meshSizes, position));
  }
  return members;
}

Result<Groups> makeCommunicators(World &world, const std::vector<int64_t> &meshSizes,
                                 const std::vector<std::vector<int>> &axesLists) {
  Groups groups;
  for (const std::vector<int> &axes : axesLists) {
    if (groups.count(axes))
      continue;
    auto communicator = world.connect(groupMembers(meshSizes, axes, world.rank()));
    CLEAVE_TRY(communicator.status());
    groups[axes] = std::move(*communicator);
  }
  return groups;
}

} // namespace cleave::comm
