// Tables of functions, in place of driver and libraries, that call the recorder of the thread.
#pragma once

#include "runtime/device/cuda/CudaDevice.h"

namespace cleave::test {

// One GPU of compute capability 9.0.
device::CudaLibraries recordingLibraries();

const device::driver::DriverTable &recordingDriver();
const device::blas::BlasTable &recordingBlas();
const device::dnn::DnnTable &recordingDnn();

} // namespace cleave::test
