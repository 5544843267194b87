// ThreadDevice: runs plans for GPUs without one. Generated kernels run in the interpreter of GPU
// threads, which checks every access and finds races; all other instructions run on the CPU device.
#pragma once

#include "passes/codegen/gpu/GpuCodegen.h"
#include "runtime/device/Device.h"

namespace cleave::fuzz {

// `ir` has the kernels of the plans that the device runs, and must outlive it. A fault of a kernel
// is a defect.
std::unique_ptr<device::Device> makeThreadDevice(const codegen::GpuIr &ir);

} // namespace cleave::fuzz
