// See DriverTable.h.
#include "runtime/device/cuda/DriverTable.h"

#include "runtime/device/cuda/SharedLibrary.h"

namespace cleave::device::driver {
namespace {

Result<DriverTable> findDriver() {
  CLEAVE_TRY_ASSIGN(SharedLibrary library, SharedLibrary::open({"libcuda.so.1"}));
  DriverTable t;
  library.find("cuInit", t.init);
  library.find("cuDriverGetVersion", t.driverGetVersion);
  library.find("cuGetErrorName", t.getErrorName);
  library.find("cuGetErrorString", t.getErrorString);
  library.find("cuDeviceGetCount", t.deviceGetCount);
  library.find("cuDeviceGet", t.deviceGet);
  library.find("cuDeviceGetName", t.deviceGetName);
  library.find("cuDeviceGetUuid_v2", t.deviceGetUuid);
  library.find("cuDeviceGetAttribute", t.deviceGetAttribute);
  library.find("cuDevicePrimaryCtxRetain", t.primaryContextRetain);
  library.find("cuDevicePrimaryCtxRelease_v2", t.primaryContextRelease);
  library.find("cuCtxSetCurrent", t.contextSetCurrent);
  library.find("cuMemAlloc_v2", t.memAlloc);
  library.find("cuMemFree_v2", t.memFree);
  library.find("cuMemGetInfo_v2", t.memGetInfo);
  library.find("cuMemHostAlloc", t.memHostAlloc);
  library.find("cuMemFreeHost", t.memFreeHost);
  library.find("cuMemcpyAsync", t.memcpyAsync);
  library.find("cuMemsetD8Async", t.memset8);
  library.find("cuMemsetD16Async", t.memset16);
  library.find("cuMemsetD32Async", t.memset32);
  library.find("cuMemsetD2D32Async", t.memset2D32);
  library.find("cuModuleLoadDataEx", t.moduleLoadDataEx);
  library.find("cuModuleUnload", t.moduleUnload);
  library.find("cuModuleGetFunction", t.moduleGetFunction);
  library.find("cuLaunchKernel", t.launchKernel);
  library.find("cuStreamCreate", t.streamCreate);
  library.find("cuStreamDestroy_v2", t.streamDestroy);
  library.find("cuStreamSynchronize", t.streamSynchronize);
  library.find("cuStreamWaitEvent", t.streamWaitEvent);
  library.find("cuStreamBeginCapture_v2", t.streamBeginCapture);
  library.find("cuStreamEndCapture", t.streamEndCapture);
  library.find("cuEventCreate", t.eventCreate);
  library.find("cuEventDestroy_v2", t.eventDestroy);
  library.find("cuEventRecordWithFlags", t.eventRecord);
  library.find("cuEventSynchronize", t.eventSynchronize);
  library.find("cuEventElapsedTime", t.eventElapsedTime);
  library.find("cuGraphInstantiateWithFlags", t.graphInstantiate);
  library.find("cuGraphUpload", t.graphUpload);
  library.find("cuGraphLaunch", t.graphLaunch);
  library.find("cuGraphDestroy", t.graphDestroy);
  library.find("cuGraphExecDestroy", t.graphExecDestroy);
  CLEAVE_TRY(library.complete());
  return t;
}

// Whether the device or its context cannot be used any more for a reason other than a program's
// access.
bool isLost(int error) {
  return error == kErrorEccUncorrectable || error == kErrorContained ||
         error == kErrorHardwareStack || error == kErrorLaunchTimeout || error == kErrorNoDevice ||
         (error >= 800 && error < 900) || error >= 909;
}

} // namespace

Result<const DriverTable *> loadDriver() {
  static const Result<DriverTable> table = findDriver();
  if (!table)
    return table.status();
  return &*table;
}

std::string errorText(const DriverTable &driver, int error) {
  const char *name = nullptr, *text = nullptr;
  driver.getErrorName(error, &name);
  driver.getErrorString(error, &text);
  return concat(name ? name : "CUDA error", name ? "" : concat(" ", error), " (",
                text ? text : "unknown", ")");
}

Status statusOf(const DriverTable &driver, int error, const std::string &what) {
  if (error == kSuccess)
    return Status::ok();
  std::string message = concat(what, ": ", errorText(driver, error));
  if (error == kErrorOutOfMemory)
    return Status::userError(message);
  return isLost(error) ? Status::lost(message) : Status::defect(message);
}

} // namespace cleave::device::driver
