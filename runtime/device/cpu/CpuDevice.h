// The device that runs a rank's instructions on this machine's CPU.
#pragma once

#include "runtime/device/Device.h"

namespace cleave::device {

// Creates a CPU device. `threads` (at least 1) is the number of threads that share the work of one
// action. The thread that calls this function must make all calls of the device, because OpenMP has
// a thread team per calling thread. Memory in Space FILE lies in files of the folder.
std::unique_ptr<Device> makeCpuDevice(int threads, const std::string &fileFolder = "/var/tmp");

} // namespace cleave::device
