// Communication between ranks whose data are in the memory of devices. A DeviceWorld stands beside
// the job's World, which connects the processes: it prepares calls into actions that run in a queue
// of the device, like any other instruction (runtime/device/Device.h).
//
// Implementations: direct (the device's memory is the host's; comm/devices), staged (through memory
// of the host; comm/staged), nccl (between GPUs; comm/nccl).
#pragma once

#include "runtime/comm/Communicator.h"
#include "runtime/device/Device.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cleave::comm {

// One rank's endpoint in one group. All members run the same collectives in the same order.
class DeviceGroup {
public:
  virtual ~DeviceGroup() = default;
  // The action of a call whose buffers are in the device's memory. It runs in `queue`: after what
  // was run there before, and before what is run there later. A defect if the call does not fit the
  // group; a user error if the implementation has no such call.
  virtual device::PreparedAction prepare(const Call &call, uint32_t queue) = 0;
};

// One rank's connection to the devices of all ranks. Outlives its groups; outlived by the World and
// the device.
class DeviceWorld {
public:
  virtual ~DeviceWorld() = default;
  // The endpoint in the group of `members`, as World::connect().
  virtual Result<std::unique_ptr<DeviceGroup>> connect(const std::vector<int> &members) = 0;
  // Whether the device can record the actions (Device::beginRecording()).
  virtual bool canRecord() const = 0;
  // Runs `wait`, which returns when actions are complete (Device::synchronize()). If a member is
  // lost in between, the calls end, so that `wait` returns, and the result is Status::lost.
  virtual Status await(const std::function<Status()> &wait) = 0;
  // `shm`, `shm, staged`, `nccl 2.28`: for messages.
  virtual std::string implementation() const = 0;
};

// This rank's groups of the ranks that mesh axes define (base/MeshCoordinates.h), by the list of
// axes.
using DeviceGroups = std::map<std::vector<int>, std::unique_ptr<DeviceGroup>>;

// Connects the group of each list of axes (repeated lists once); `rank` is this rank. Ranks may
// pass different lists, as long as all members of a group pass its list.
Result<DeviceGroups> makeDeviceGroups(DeviceWorld &world, int rank,
                                      const std::vector<int64_t> &meshSizes,
                                      const std::vector<std::vector<int>> &axesLists);

// Prepares a checked call of a group of one rank: copies in the queue.
device::PreparedAction prepareAlone(device::Device &device, const Call &call, uint32_t queue);

// Runs its actions one after the other.
class ActionList : public device::Action {
public:
  void add(std::unique_ptr<device::Action> action) { actions_.push_back(std::move(action)); }
  Status run() override;

private:
  std::vector<std::unique_ptr<device::Action>> actions_;
};

} // namespace cleave::comm
