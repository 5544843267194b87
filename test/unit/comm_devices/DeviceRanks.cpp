// Runs the suite of test/unit/comm on devices: a World whose communicators copy the buffers of
// every call to device memory, run it there, and copy the results back.
#include "DeviceRanks.h"

#include "FakeNccl.h"
#include "runtime/comm/local/LocalWorld.h"
#include "runtime/comm/nccl/NcclWorld.h"
#include "runtime/comm/staged/StagedWorld.h"

#include <algorithm>

namespace cleave::comm {

const std::vector<std::string> &implementations() {
  static const std::vector<std::string> names{"staged", "nccl"};
  return names;
}

std::vector<std::string> implementationsThat(Promise promise) {
  if (promise == Promise::ReducesInRankOrder)
    return {"staged"};
  return {}; // calls run in the order of a queue
}

Result<std::unique_ptr<DeviceWorld>> makeDeviceWorld(const std::string &implementation,
                                                     World &world, FakeDevice &device,
                                                     const Options &options) {
  if (implementation == "nccl")
    return makeNcclWorld(fakeNccl(), world, device, options);
  return makeStagedWorld(world, device, 1 << 20); // large tensors in several pieces
}

namespace {

class OnDevice final : public Communicator {
public:
  OnDevice(std::vector<int> members, int index, std::unique_ptr<DeviceGroup> group,
           DeviceWorld &devices, FakeDevice &device)
      : Communicator(std::move(members), index), group_(std::move(group)), devices_(devices),
        device_(device) {}
  ~OnDevice() override { stopQueues(); }

protected:
  Status execute(const Call &call) override {
    Call onDevice = call;
    std::vector<std::shared_ptr<void>> memory;
    for (BufferPair &pair : onDevice.pairs) {
      bool isInPlace = pair.send == pair.recv;
      for (const void **buffer : {&pair.send, const_cast<const void **>(&pair.recv)}) {
        if (!*buffer || (isInPlace && buffer != &pair.send))
          continue;
        uint64_t bytes = bytesOf(call, pair, buffer == &pair.send);
        CLEAVE_TRY_ASSIGN(auto block, device_.allocate(plan::DEVICE, bytes));
        CLEAVE_TRY(device_.write(block.get(), *buffer, bytes));
        *buffer = block.get();
        memory.push_back(std::move(block));
      }
      if (isInPlace)
        pair.recv = const_cast<void *>(pair.send);
    }
    CLEAVE_TRY_ASSIGN(auto action, group_->prepare(onDevice, kCommunicationQueue));
    CLEAVE_TRY(action->run());
    CLEAVE_TRY(devices_.await([&] { return device_.synchronize(); }));
    for (size_t i = 0; i < call.pairs.size(); ++i)
      if (call.pairs[i].recv)
        CLEAVE_TRY(device_.read(onDevice.pairs[i].recv, call.pairs[i].recv,
                                bytesOf(call, call.pairs[i], false)));
    return Status::ok();
  }

private:
  uint64_t bytesOf(const Call &call, const BufferPair &pair, bool isSend) const {
    bool isLarge =
        call.kind == CollectiveKind::AllToAll ||
        call.kind == (isSend ? CollectiveKind::ReduceScatter : CollectiveKind::AllGather);
    return uint64_t(pair.count * byteSize(pair.dtype) * (isLarge ? size() : 1));
  }

  std::unique_ptr<DeviceGroup> group_;
  DeviceWorld &devices_;
  FakeDevice &device_;
};

class WorldOfDevices final : public World {
public:
  WorldOfDevices(World &host, DeviceWorld &devices, FakeDevice &device)
      : World(host.rank(), host.size()), host_(host), devices_(devices), device_(device) {}
  Result<std::unique_ptr<Communicator>> connect(const std::vector<int> &members) override {
    CLEAVE_TRY_ASSIGN(auto group, devices_.connect(members));
    int index = int(std::find(members.begin(), members.end(), rank()) - members.begin());
    return std::unique_ptr<Communicator>(
        std::make_unique<OnDevice>(members, index, std::move(group), devices_, device_));
  }
  Status publish(const std::string &key, const std::string &value) override {
    return host_.publish(key, value);
  }
  Result<std::optional<std::string>> peek(const std::string &key) override {
    return host_.peek(key);
  }
  std::string implementation() const override { return devices_.implementation(); }

private:
  World &host_;
  DeviceWorld &devices_;
  FakeDevice &device_;
};

} // namespace

std::string runDevices(const std::string &implementation, int size, const DeviceMain &main,
                       const Options &options) {
  std::vector<std::unique_ptr<World>> hosts = makeLocalWorlds(size, options);
  std::string errors = runThreads(size, [&](int rank, Findings &findings) {
    std::unique_ptr<World> host = std::move(hosts[size_t(rank)]); // ends with its rank
    FakeDevice device;
    auto devices = makeDeviceWorld(implementation, *host, device, options);
    findings.expectOk(devices.status(), "devices");
    if (devices)
      main(*host, **devices, device, findings);
  });
  return takeNcclFaults() + errors;
}

std::string runRanks(const std::string &implementation, int size, const RankMain &main,
                     const Options &options) {
  return runDevices(
      implementation, size,
      [&](World &host, DeviceWorld &devices, FakeDevice &device, Findings &findings) {
        WorldOfDevices world(host, devices, device);
        main(world, findings);
      },
      options);
}

} // namespace cleave::comm
