// Compares the declarations of DriverTable.h with cuda.h of a toolkit, when compiled.
#define __CUDA_API_VERSION_INTERNAL // declares every version of a function under its own name
#include <cuda.h>

#include "runtime/device/cuda/DriverTable.h"
#include "test/unit/runtime_device_cuda/Alike.h"

namespace cleave::device::driver {

static_assert(test::kAlike<decltype(DriverTable::init), decltype(&cuInit)>);
static_assert(test::kAlike<decltype(DriverTable::driverGetVersion), decltype(&cuDriverGetVersion)>);
static_assert(test::kAlike<decltype(DriverTable::getErrorName), decltype(&cuGetErrorName)>);
static_assert(test::kAlike<decltype(DriverTable::getErrorString), decltype(&cuGetErrorString)>);
static_assert(test::kAlike<decltype(DriverTable::deviceGetCount), decltype(&cuDeviceGetCount)>);
static_assert(test::kAlike<decltype(DriverTable::deviceGet), decltype(&cuDeviceGet)>);
static_assert(test::kAlike<decltype(DriverTable::deviceGetName), decltype(&cuDeviceGetName)>);
static_assert(test::kAlike<decltype(DriverTable::deviceGetUuid), decltype(&cuDeviceGetUuid_v2)>);
static_assert(
    test::kAlike<decltype(DriverTable::deviceGetAttribute), decltype(&cuDeviceGetAttribute)>);
static_assert(
    test::kAlike<decltype(DriverTable::primaryContextRetain), decltype(&cuDevicePrimaryCtxRetain)>);
static_assert(test::kAlike<decltype(DriverTable::primaryContextRelease),
                           decltype(&cuDevicePrimaryCtxRelease_v2)>);
static_assert(test::kAlike<decltype(DriverTable::contextSetCurrent), decltype(&cuCtxSetCurrent)>);
static_assert(test::kAlike<decltype(DriverTable::memAlloc), decltype(&cuMemAlloc_v2)>);
static_assert(test::kAlike<decltype(DriverTable::memFree), decltype(&cuMemFree_v2)>);
static_assert(test::kAlike<decltype(DriverTable::memGetInfo), decltype(&cuMemGetInfo_v2)>);
static_assert(test::kAlike<decltype(DriverTable::memHostAlloc), decltype(&cuMemHostAlloc)>);
static_assert(test::kAlike<decltype(DriverTable::memFreeHost), decltype(&cuMemFreeHost)>);
static_assert(test::kAlike<decltype(DriverTable::memcpyAsync), decltype(&cuMemcpyAsync)>);
static_assert(test::kAlike<decltype(DriverTable::memset8), decltype(&cuMemsetD8Async)>);
static_assert(test::kAlike<decltype(DriverTable::memset16), decltype(&cuMemsetD16Async)>);
static_assert(test::kAlike<decltype(DriverTable::memset32), decltype(&cuMemsetD32Async)>);
static_assert(test::kAlike<decltype(DriverTable::memset2D32), decltype(&cuMemsetD2D32Async)>);
static_assert(test::kAlike<decltype(DriverTable::moduleLoadDataEx), decltype(&cuModuleLoadDataEx)>);
static_assert(test::kAlike<decltype(DriverTable::moduleUnload), decltype(&cuModuleUnload)>);
static_assert(
    test::kAlike<decltype(DriverTable::moduleGetFunction), decltype(&cuModuleGetFunction)>);
static_assert(test::kAlike<decltype(DriverTable::launchKernel), decltype(&cuLaunchKernel)>);
static_assert(test::kAlike<decltype(DriverTable::streamCreate), decltype(&cuStreamCreate)>);
static_assert(test::kAlike<decltype(DriverTable::streamDestroy), decltype(&cuStreamDestroy_v2)>);
static_assert(
    test::kAlike<decltype(DriverTable::streamSynchronize), decltype(&cuStreamSynchronize)>);
static_assert(test::kAlike<decltype(DriverTable::streamWaitEvent), decltype(&cuStreamWaitEvent)>);
static_assert(
    test::kAlike<decltype(DriverTable::streamBeginCapture), decltype(&cuStreamBeginCapture_v2)>);
static_assert(test::kAlike<decltype(DriverTable::streamEndCapture), decltype(&cuStreamEndCapture)>);
static_assert(test::kAlike<decltype(DriverTable::eventCreate), decltype(&cuEventCreate)>);
static_assert(test::kAlike<decltype(DriverTable::eventDestroy), decltype(&cuEventDestroy_v2)>);
static_assert(test::kAlike<decltype(DriverTable::eventRecord), decltype(&cuEventRecordWithFlags)>);
static_assert(test::kAlike<decltype(DriverTable::eventSynchronize), decltype(&cuEventSynchronize)>);
static_assert(test::kAlike<decltype(DriverTable::eventElapsedTime), decltype(&cuEventElapsedTime)>);
static_assert(
    test::kAlike<decltype(DriverTable::graphInstantiate), decltype(&cuGraphInstantiateWithFlags)>);
static_assert(test::kAlike<decltype(DriverTable::graphUpload), decltype(&cuGraphUpload)>);
static_assert(test::kAlike<decltype(DriverTable::graphLaunch), decltype(&cuGraphLaunch)>);
static_assert(test::kAlike<decltype(DriverTable::graphDestroy), decltype(&cuGraphDestroy)>);
static_assert(test::kAlike<decltype(DriverTable::graphExecDestroy), decltype(&cuGraphExecDestroy)>);
static_assert(kEventRecordDefault == unsigned(CU_EVENT_RECORD_DEFAULT));
static_assert(kEventRecordExternal == unsigned(CU_EVENT_RECORD_EXTERNAL));
static_assert(int(kSuccess) == int(CUDA_SUCCESS));
static_assert(int(kErrorInvalidValue) == int(CUDA_ERROR_INVALID_VALUE));
static_assert(int(kErrorOutOfMemory) == int(CUDA_ERROR_OUT_OF_MEMORY));
static_assert(int(kErrorNoDevice) == int(CUDA_ERROR_NO_DEVICE));
static_assert(int(kErrorNoBinaryForGpu) == int(CUDA_ERROR_NO_BINARY_FOR_GPU));
static_assert(int(kErrorEccUncorrectable) == int(CUDA_ERROR_ECC_UNCORRECTABLE));
static_assert(int(kErrorInvalidPtx) == int(CUDA_ERROR_INVALID_PTX));
static_assert(int(kErrorUnsupportedPtxVersion) == int(CUDA_ERROR_UNSUPPORTED_PTX_VERSION));
static_assert(int(kErrorContained) == int(CUDA_ERROR_CONTAINED));
static_assert(int(kErrorInvalidHandle) == int(CUDA_ERROR_INVALID_HANDLE));
static_assert(int(kErrorNotFound) == int(CUDA_ERROR_NOT_FOUND));
static_assert(int(kErrorIllegalAddress) == int(CUDA_ERROR_ILLEGAL_ADDRESS));
static_assert(int(kErrorLaunchOutOfResources) == int(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES));
static_assert(int(kErrorLaunchTimeout) == int(CUDA_ERROR_LAUNCH_TIMEOUT));
static_assert(int(kErrorAssert) == int(CUDA_ERROR_ASSERT));
static_assert(int(kErrorHardwareStack) == int(CUDA_ERROR_HARDWARE_STACK_ERROR));
static_assert(int(kErrorIllegalInstruction) == int(CUDA_ERROR_ILLEGAL_INSTRUCTION));
static_assert(int(kErrorMisalignedAddress) == int(CUDA_ERROR_MISALIGNED_ADDRESS));
static_assert(int(kErrorInvalidAddressSpace) == int(CUDA_ERROR_INVALID_ADDRESS_SPACE));
static_assert(int(kErrorInvalidPc) == int(CUDA_ERROR_INVALID_PC));
static_assert(int(kErrorLaunchFailed) == int(CUDA_ERROR_LAUNCH_FAILED));
static_assert(int(kErrorCaptureUnsupported) == int(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED));
static_assert(int(kErrorCaptureUnjoined) == int(CUDA_ERROR_STREAM_CAPTURE_UNJOINED));
static_assert(int(kErrorCaptureIsolation) == int(CUDA_ERROR_STREAM_CAPTURE_ISOLATION));
static_assert(int(kAttributeCapabilityMajor) == int(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
static_assert(int(kAttributeCapabilityMinor) == int(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
static_assert(int(kEventDefault) == int(CU_EVENT_DEFAULT));
static_assert(int(kEventDisableTiming) == int(CU_EVENT_DISABLE_TIMING));
static_assert(int(kStreamNonBlocking) == int(CU_STREAM_NON_BLOCKING));
static_assert(int(kHostAllocPortable) == int(CU_MEMHOSTALLOC_PORTABLE));
static_assert(int(kCaptureThreadLocal) == int(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
static_assert(int(kJitErrorLogBuffer) == int(CU_JIT_ERROR_LOG_BUFFER));
static_assert(int(kJitErrorLogBufferBytes) == int(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES));
static_assert(sizeof(Address) == sizeof(CUdeviceptr));
static_assert(sizeof(Device) == sizeof(CUdevice));
static_assert(sizeof(Uuid) == sizeof(CUuuid));

} // namespace cleave::device::driver
