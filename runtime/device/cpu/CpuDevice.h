// Makes the device that runs a rank's instructions on this machine's CPU.
#pragma once

#include "runtime/device/Device.h"

namespace cleave::device {

// `threads` is how many threads share the work of one action (at least 1). The device is used by
// one thread at a time, and always by the same one: OpenMP keeps its thread team per calling
// thread.
std::unique_ptr<Device> makeCpuDevice(int threads);

} // namespace cleave::device
