// Device worlds of ranks that are threads, each with a FakeDevice.
#pragma once

#include "../comm/Ranks.h"
#include "FakeDevice.h"
#include "runtime/comm/DeviceWorld.h"

namespace cleave::comm {

// The device world of one rank: `staged` or `nccl` (over fakeNccl()).
Result<std::unique_ptr<DeviceWorld>> makeDeviceWorld(const std::string &implementation,
                                                     World &world, FakeDevice &device,
                                                     const Options &options = {});

// What a rank does with its host's world, its device world and its device.
using DeviceMain = std::function<void(World &, DeviceWorld &, FakeDevice &, Findings &)>;
// Runs `main` on all ranks. Returns their errors and faults; empty if there are none.
std::string runDevices(const std::string &implementation, int size, const DeviceMain &main,
                       const Options &options = {});

// Device memory that holds a copy of `values`.
template <typename T>
Result<std::shared_ptr<void>> onDevice(FakeDevice &device, const std::vector<T> &values) {
  CLEAVE_TRY_ASSIGN(auto memory, device.allocate(plan::DEVICE, values.size() * sizeof(T)));
  CLEAVE_TRY(device.write(memory.get(), values.data(), values.size() * sizeof(T)));
  return memory;
}

} // namespace cleave::comm
