// See DevicelessDnn.h.
#include "test/unit/runtime_device_cuda/DevicelessDnn.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <dlfcn.h>

namespace cleave::test {
namespace {

using namespace device::dnn;

// Values of enumerators in cudnn_graph.h (9.8).
constexpr int kDeviceProperties = 38, kTypeChar = 24, kPropertiesJson = 2702,
              kHeuristicsProperties = 204, kPlanProperties = 407, kEngineGlobalIndex = 1301;

constexpr const char *kH100 = R"({
  "deviceVer": 900, "deviceName": "NVIDIA H100 80GB HBM3", "cudaDeviceId": 0, "pciDeviceId": 0,
  "driverVer": 13000, "isTccDriver": 0, "supportCoopLaunch": 1, "multiProcessorCount": 132,
  "warpSize": 32, "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64],
  "regsPerBlock": 65536, "maxRegistersPerSM": 65536, "maxCtasPerSM": 32, "maxThreadsPerBlock": 1024,
  "maxThreadsPerSM": 2048, "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": 232448,
  "reservedSharedMemoryPerBlock": 1024, "l2CacheSize": 52428800, "totalGlobalMem": 85520809984,
  "smClockRateKHz": 1980000, "memClockRateKHz": 2619000})";

const DnnTable *library = nullptr;
DescriptorRef properties = nullptr;
DnnPlan asked, finished; // the engine that was described last, the last plan

int setAttribute(DescriptorRef d, int attribute, int type, int64_t count, const void *values) {
  if (attribute == kGraphHandle)
    return kSuccess;
  if (attribute == kPlanHandle)
    return library->setAttribute(d, kPlanProperties, kTypeDescriptor, 1, &properties);
  const int status = library->setAttribute(d, attribute, type, count, values);
  return status == kSuccess && attribute == kHeuristicsGraph
             ? library->setAttribute(d, kHeuristicsProperties, kTypeDescriptor, 1, &properties)
             : status;
}

int getAttribute(DescriptorRef d, int attribute, int type, int64_t wanted, int64_t *count,
                 void *values) {
  const int status = library->getAttribute(d, attribute, type, wanted, count, values);
  if (status != kSuccess)
    return status;
  int64_t one = 0;
  if (attribute == kEngineNumericalNote) {
    const int *notes = static_cast<const int *>(values);
    asked.usesTensorCores = std::find(notes, notes + *count, kNoteTensorCore) != notes + *count;
    return library->getAttribute(d, kEngineGlobalIndex, kTypeInt64, 1, &one, &asked.engine);
  }
  if (attribute == kPlanWorkspaceBytes) {
    finished = asked;
    finished.workspaceBytes = *static_cast<const int64_t *>(values);
  }
  return status;
}

Result<DnnTable> makeTable() {
  if (!::dlopen(CLEAVE_FAKE_DRIVER, RTLD_NOW | RTLD_GLOBAL))
    return Status::userError(::dlerror());
  CLEAVE_TRY_ASSIGN(library, loadDnn());
  if (library->createDescriptor(kDeviceProperties, &properties) != kSuccess ||
      library->setAttribute(properties, kPropertiesJson, kTypeChar, int64_t(std::strlen(kH100)),
                            kH100) != kSuccess ||
      library->finalize(properties) != kSuccess)
    return Status::userError("cuDNN ", library->getVersion(), " cannot plan without a device");
  DnnTable table = *library;
  table.create = [](Handle *handle) { return *handle = reinterpret_cast<Handle>(1), kSuccess; };
  table.destroy = [](Handle) { return kSuccess; };
  table.setStream = [](Handle, device::driver::Stream) { return kSuccess; };
  table.setAttribute = setAttribute;
  table.getAttribute = getAttribute;
  return table;
}

} // namespace

Result<const DnnTable *> devicelessDnn() {
  static const Result<DnnTable> table = makeTable();
  if (!table)
    return table.status();
  return &*table;
}

DnnPlan lastDnnPlan() { return finished; }

} // namespace cleave::test
