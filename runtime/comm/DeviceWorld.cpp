// See DeviceWorld.h.
#include "runtime/comm/DeviceWorld.h"

#include "runtime/base/MeshCoordinates.h"

namespace cleave::comm {

Result<DeviceGroups> makeDeviceGroups(DeviceWorld &world, int rank,
                                      const std::vector<int64_t> &meshSizes,
                                      const std::vector<std::vector<int>> &axesLists) {
  DeviceGroups groups;
  for (const std::vector<int> &axes : axesLists) {
    if (groups.count(axes))
      continue;
    std::vector<int64_t> members =
        meshGroup(meshSizes, std::vector<int64_t>(axes.begin(), axes.end()), rank);
    CLEAVE_TRY_ASSIGN(groups[axes],
                      world.connect(std::vector<int>(members.begin(), members.end())));
  }
  return groups;
}

device::PreparedAction prepareAlone(device::Device &device, const Call &call, uint32_t queue) {
  auto list = std::make_unique<ActionList>();
  device.prepareFor(queue);
  for (const BufferPair &pair : call.pairs) {
    if (pair.send == pair.recv || pair.count == 0)
      continue;
    CLEAVE_TRY_ASSIGN(
        auto copy, device.copy(pair.send, pair.recv, uint64_t(pair.count) * byteSize(pair.dtype)));
    list->add(std::move(copy));
  }
  return device::PreparedAction(std::move(list));
}

Status ActionList::run() {
  for (auto &action : actions_)
    CLEAVE_TRY(action->run());
  return Status::ok();
}

} // namespace cleave::comm
