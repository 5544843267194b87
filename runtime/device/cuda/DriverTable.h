// DriverTable: the functions of the CUDA driver that the device uses, with own declarations, so
// that building needs no toolkit. Types and values are those of cuda.h (CUDA 12 and 13); a test
// compares them where a toolkit is installed. Enumerations are passed as int.
#pragma once

#include "runtime/base/Status.h"

#include <cstddef>
#include <cstdint>

namespace cleave::device::driver {

using Device = int;       // CUdevice
using Address = uint64_t; // CUdeviceptr
struct ContextHandle;     // the handles' types exist only as names
struct ModuleHandle;
struct FunctionHandle;
struct StreamHandle;
struct EventHandle;
struct GraphHandle;
struct GraphExecHandle;
using Context = ContextHandle *;
using Module = ModuleHandle *;
using Function = FunctionHandle *;
using Stream = StreamHandle *;
using EventRef = EventHandle *;
using Graph = GraphHandle *;
using GraphExec = GraphExecHandle *;
struct Uuid {
  char bytes[16];
};

// CUresult
constexpr int kSuccess = 0, kErrorInvalidValue = 1, kErrorOutOfMemory = 2, kErrorNoDevice = 100,
              kErrorNoBinaryForGpu = 209, kErrorEccUncorrectable = 214, kErrorInvalidPtx = 218,
              kErrorUnsupportedPtxVersion = 222, kErrorContained = 226, kErrorInvalidHandle = 400,
              kErrorNotFound = 500, kErrorIllegalAddress = 700, kErrorLaunchOutOfResources = 701,
              kErrorLaunchTimeout = 702, kErrorAssert = 710, kErrorHardwareStack = 714,
              kErrorIllegalInstruction = 715, kErrorMisalignedAddress = 716,
              kErrorInvalidAddressSpace = 717, kErrorInvalidPc = 718, kErrorLaunchFailed = 719,
              kErrorCaptureUnsupported = 900, kErrorCaptureUnjoined = 904,
              kErrorCaptureIsolation = 905;
// CUdevice_attribute
constexpr int kAttributeCapabilityMajor = 75, kAttributeCapabilityMinor = 76;
// CUevent_flags, CUevent_record_flags, CUstream_flags, CU_MEMHOSTALLOC_…, CUstreamCaptureMode
constexpr unsigned kEventDefault = 0, kEventDisableTiming = 2, kStreamNonBlocking = 1,
                   kHostAllocPortable = 1, kEventRecordDefault = 0, kEventRecordExternal = 1;
constexpr int kCaptureThreadLocal = 1;
// CUjit_option
constexpr int kJitErrorLogBuffer = 5, kJitErrorLogBufferBytes = 6;

// One member per function; its comment is the function's name in the library.
struct DriverTable {
  int (*init)(unsigned flags);                                      // cuInit
  int (*driverGetVersion)(int *version);                            // cuDriverGetVersion
  int (*getErrorName)(int error, const char **name);                // cuGetErrorName
  int (*getErrorString)(int error, const char **text);              // cuGetErrorString
  int (*deviceGetCount)(int *count);                                // cuDeviceGetCount
  int (*deviceGet)(Device *device, int ordinal);                    // cuDeviceGet
  int (*deviceGetName)(char *name, int length, Device device);      // cuDeviceGetName
  int (*deviceGetUuid)(Uuid *uuid, Device device);                  // cuDeviceGetUuid_v2
  int (*deviceGetAttribute)(int *value, int attribute, Device);     // cuDeviceGetAttribute
  int (*primaryContextRetain)(Context *context, Device device);     // cuDevicePrimaryCtxRetain
  int (*primaryContextRelease)(Device device);                      // cuDevicePrimaryCtxRelease_v2
  int (*contextSetCurrent)(Context context);                        // cuCtxSetCurrent
  int (*memAlloc)(Address *address, size_t bytes);                  // cuMemAlloc_v2
  int (*memFree)(Address address);                                  // cuMemFree_v2
  int (*memGetInfo)(size_t *free, size_t *total);                   // cuMemGetInfo_v2
  int (*memHostAlloc)(void **memory, size_t bytes, unsigned flags); // cuMemHostAlloc
  int (*memFreeHost)(void *memory);                                 // cuMemFreeHost
  int (*memcpyAsync)(Address to, Address from, size_t bytes, Stream stream); // cuMemcpyAsync
  // cuMemsetD8Async, cuMemsetD16Async, cuMemsetD32Async, cuMemsetD2D32Async
  int (*memset8)(Address to, unsigned char value, size_t count, Stream stream);
  int (*memset16)(Address to, unsigned short value, size_t count, Stream stream);
  int (*memset32)(Address to, unsigned value, size_t count, Stream stream);
  int (*memset2D32)(Address to, size_t pitch, unsigned value, size_t width, size_t height,
                    Stream stream);
  // cuModuleLoadDataEx, cuModuleUnload, cuModuleGetFunction
  int (*moduleLoadDataEx)(Module *module, const void *image, unsigned count, int *options,
                          void **values);
  int (*moduleUnload)(Module module);
  int (*moduleGetFunction)(Function *function, Module module, const char *name);
  // cuLaunchKernel
  int (*launchKernel)(Function function, unsigned gridX, unsigned gridY, unsigned gridZ,
                      unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
                      Stream stream, void **parameters, void **extra);
  int (*streamCreate)(Stream *stream, unsigned flags);              // cuStreamCreate
  int (*streamDestroy)(Stream stream);                              // cuStreamDestroy_v2
  int (*streamSynchronize)(Stream stream);                          // cuStreamSynchronize
  int (*streamWaitEvent)(Stream stream, EventRef event, unsigned);  // cuStreamWaitEvent
  int (*streamBeginCapture)(Stream stream, int mode);               // cuStreamBeginCapture_v2
  int (*streamEndCapture)(Stream stream, Graph *graph);             // cuStreamEndCapture
  int (*eventCreate)(EventRef *event, unsigned flags);              // cuEventCreate
  int (*eventDestroy)(EventRef event);                              // cuEventDestroy_v2
  int (*eventRecord)(EventRef, Stream, unsigned flags);             // cuEventRecordWithFlags
  int (*eventSynchronize)(EventRef event);                          // cuEventSynchronize
  int (*eventElapsedTime)(float *milliseconds, EventRef, EventRef); // cuEventElapsedTime
  int (*graphInstantiate)(GraphExec *, Graph,
                          unsigned long long flags);  // cuGraphInstantiateWithFlags
  int (*graphUpload)(GraphExec graph, Stream stream); // cuGraphUpload
  int (*graphLaunch)(GraphExec graph, Stream stream); // cuGraphLaunch
  int (*graphDestroy)(Graph graph);                   // cuGraphDestroy
  int (*graphExecDestroy)(GraphExec graph);           // cuGraphExecDestroy
};

// The driver of this machine. A user error if there is none.
Result<const DriverTable *> loadDriver();

// `CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)`.
std::string errorText(const DriverTable &driver, int error);
// Ok, or the failure of a call: Status::lost where the device or its context is lost, a user error
// where memory does not suffice, else a defect. `what` was being done.
Status statusOf(const DriverTable &driver, int error, const std::string &what);

} // namespace cleave::device::driver
