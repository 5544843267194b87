// Chooses how the devices of a job communicate.
#pragma once

#include "runtime/comm/DeviceWorld.h"

#include <memory>

namespace cleave::comm {

// The DeviceWorld of this rank; all ranks call it and get the same kind. `world` and `device`
// outlive it.
//   direct   the device's memory is the host's
//   nccl     every rank has a GPU of its own and NCCL
//   staged   otherwise
// The environment variable CLEAVE_DEVICE_COMM (`nccl`, `staged`) decides instead; a user error if
// that cannot be.
Result<std::unique_ptr<DeviceWorld>> connectDevices(World &world, device::Device &device,
                                                    const Options &options = {});

// What a rank tells the others about its device.
struct DeviceCard {
  char identity[96];  // Device::identity()
  char obstacle[160]; // why NCCL cannot be used; empty: it can
};

// The kind for these ranks: `nccl` or `staged`. `wanted` is that of the environment, or empty; a
// user error says why it cannot be.
Result<std::string> kindFor(const std::vector<DeviceCard> &cards, const std::string &wanted);

} // namespace cleave::comm
