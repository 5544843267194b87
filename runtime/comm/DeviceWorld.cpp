// See DeviceWorld.h.
#include "runtime/comm/DeviceWorld.h"

#include "runtime/base/MeshCoordinates.h"

namespace cleave::comm {

uint32_t messageChannel(uint32_t sender, uint32_t receiver) {
  const uint32_t differences = sender ^ receiver, lowest = differences & -differences;
  return 2 * lowest + ((sender & lowest) != 0);
}

Result<DeviceGroups> makeDeviceGroups(DeviceWorld &world, int rank,
                                      const std::vector<int64_t> &meshSizes,
                                      const std::set<GroupKey> &keys) {
  DeviceGroups groups;
  for (const GroupKey &key : keys) {
    std::vector<int64_t> members =
        meshGroup(meshSizes, std::vector<int64_t>(key.axes.begin(), key.axes.end()), rank);
    CLEAVE_TRY_ASSIGN(groups[key], world.connect(std::vector<int>(members.begin(), members.end())));
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
