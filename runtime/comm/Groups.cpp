// See Groups.h.
#include "runtime/comm/Groups.h"

#include "runtime/base/MeshCoordinates.h"

namespace cleave::comm {

Result<Groups> makeCommunicators(World &world, const std::vector<int64_t> &meshSizes,
                                 const std::vector<std::vector<int>> &axesLists) {
  Groups groups;
  for (const std::vector<int> &axes : axesLists) {
    if (groups.count(axes))
      continue;
    std::vector<int64_t> members =
        meshGroup(meshSizes, std::vector<int64_t>(axes.begin(), axes.end()), world.rank());
    CLEAVE_TRY_ASSIGN(groups[axes],
                      world.connect(std::vector<int>(members.begin(), members.end())));
  }
  return groups;
}

} // namespace cleave::comm
