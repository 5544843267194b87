// Communication between GPUs over NCCL: one communicator per group, whose calls run in the device's
// queues. NCCL reduces in an order of its own: the bits of a result are the same on all members,
// but not those of the other implementations (docs/decisions/0036).
#pragma once

#include "runtime/comm/DeviceWorld.h"
#include "runtime/comm/nccl/Nccl.h"

#include <memory>

namespace cleave::comm {

// `world` connects the hosts, which exchange the identifiers of NCCL's communicators. `table`,
// `world` and `device` outlive the result. The ranks' devices are different GPUs.
std::unique_ptr<DeviceWorld> makeNcclWorld(const nccl::Table &table, World &world,
                                           device::Device &device, const Options &options);

} // namespace cleave::comm
