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
#include <set>
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

// A group of the ranks that mesh axes define (base/MeshCoordinates.h). Calls on different channels
// do not wait for each other.
struct GroupKey {
  std::vector<int> axes;
  uint32_t channel = 0; // 0, or messageChannel()
  auto operator<=>(const GroupKey &) const = default;
};

// The channel of messages between two members of a group, given by their indices. On each channel,
// a member sends only or receives only: the two indices differ in some bit, and a channel has the
// messages whose lowest such bit is the same and has the same value in the sender.
uint32_t messageChannel(uint32_t sender, uint32_t receiver);

// This rank's groups.
using DeviceGroups = std::map<GroupKey, std::unique_ptr<DeviceGroup>>;

// Connects the groups; `rank` is this rank. Ranks may pass different keys, as long as all members
// of a group pass its key.
Result<DeviceGroups> makeDeviceGroups(DeviceWorld &world, int rank,
                                      const std::vector<int64_t> &meshSizes,
                                      const std::set<GroupKey> &keys);

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
