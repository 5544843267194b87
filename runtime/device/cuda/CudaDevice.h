// The device that runs a rank's instructions on an NVIDIA GPU: the plan's generated kernels,
// cuBLASLt for products, cuDNN for convolution and attention. Driver and libraries are loaded when
// a device is made, so that programs need none of them to be built or started.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/device/cuda/BlasTable.h"
#include "runtime/device/cuda/DnnTable.h"
#include "runtime/device/cuda/DriverTable.h"

namespace cleave::device {

// How a device gets its driver and libraries: those of the machine, or a test's own.
struct CudaLibraries {
  Result<const driver::DriverTable *> (*driver)() = driver::loadDriver;
  Result<const blas::BlasTable *> (*blas)() = blas::loadBlas; // when the first product is prepared
  Result<const dnn::DnnTable *> (*dnn)() = dnn::loadDnn;      // … convolution or attention
};

// The number of GPUs that this process sees. A user error if there is no driver.
Result<int> cudaDeviceCount(const CudaLibraries &libraries = {});

// Creates a device for the GPU with this index. The thread that calls this function makes all calls
// of the device. A user error if there is no driver or no such GPU.
Result<std::unique_ptr<Device>> makeCudaDevice(int index, const CudaLibraries &libraries = {});

} // namespace cleave::device
