// Communication between devices through memory of the hosts: data are downloaded, the host's
// communicators transfer them, and results are uploaded. For several ranks on one GPU, and for GPUs
// without a communication library of their own.
#pragma once

#include "runtime/comm/DeviceWorld.h"

#include <cstddef>
#include <memory>

namespace cleave::comm {

// Large calls are divided into pieces of this many bytes sent and received, which limits the host
// memory of a rank to twice as much.
constexpr size_t kStagingBytes = 16 << 20;

// `world` connects the hosts. Both outlive the result. A user error if the device has no memory of
// the host to give.
Result<std::unique_ptr<DeviceWorld>> makeStagedWorld(World &world, device::Device &device,
                                                     size_t stagingBytes = kStagingBytes);

} // namespace cleave::comm
