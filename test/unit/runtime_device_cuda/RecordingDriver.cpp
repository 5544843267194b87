// The driver's functions. See RecordingDriver.h.
#include "test/unit/runtime_device_cuda/RecordingDriver.h"

#include "runtime/artifact/KernelSignature.h"
#include "runtime/base/Concat.h"
#include "test/unit/runtime_device_cuda/Recorder.h"

#include <cstring>

namespace cleave::test {
namespace {

using namespace device::driver;

Recorder &the() { return *Recorder::current(); }

void *pointer(Address address) { return reinterpret_cast<void *>(address); }

template <typename Handle> int make(const char *call, const char *kind, Handle *handle) {
  the().count(call);
  *handle = static_cast<Handle>(the().create(kind));
  return kSuccess;
}
int unmake(const char *call, const char *kind, void *handle) {
  the().count(call);
  the().destroy(kind, handle);
  return kSuccess;
}

// Kernels are known by their index in the plan: a function is the address of its Kernel.
int launchKernel(Function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                 unsigned blockY, unsigned blockZ, unsigned, Stream stream, void **parameters,
                 void **) {
  the().count("launchKernel");
  const auto &kernel = *reinterpret_cast<const plan::Kernel *>(function);
  const std::string &name = kernel.symbol();
  if (gridX != kernel.grid().blocks() || gridY != 1 || gridZ != 1 ||
      blockX != kernel.grid().threads() || blockY != 1 || blockZ != 1)
    the().fault(concat(name, " is launched with another grid than the plan's"));
  if (blockX == 0 || blockX > 1024 || gridX == 0)
    the().fault(concat(name, " has a grid that no GPU takes"));
  DeviceOperation operation{name, {}, {}};
  for (int i = 0; i < kernel.parameters_size(); ++i) {
    const plan::KernelParameter &parameter = kernel.parameters(i);
    operation.accesses.push_back(
        {*static_cast<void **>(parameters[i]), parameter.bytes(), parameter.written()});
  }
  the().enqueue(stream, std::move(operation));
  return kSuccess;
}

int memcpyAsync(Address to, Address from, size_t bytes, Stream stream) {
  the().count("memcpyAsync");
  the().enqueue(stream, {"a copy",
                         {{pointer(from), bytes, false}, {pointer(to), bytes, true}},
                         [=] { std::memmove(the().viewOf(to), the().viewOf(from), bytes); }});
  return kSuccess;
}

int fill(Address to, size_t bytes, Stream stream) {
  the().count("memset");
  the().enqueue(stream, {"a fill", {{pointer(to), bytes, true}}, {}});
  return kSuccess;
}

void addMachine(DriverTable &t) {
  t.init = [](unsigned) { return kSuccess; };
  t.driverGetVersion = [](int *version) { return *version = 13000, kSuccess; };
  t.getErrorName = [](int, const char **name) { return *name = "CUDA_ERROR_OF_A_TEST", kSuccess; };
  t.getErrorString = [](int, const char **text) { return *text = "a test", kSuccess; };
  t.deviceGetCount = [](int *count) { return *count = 1, kSuccess; };
  t.deviceGet = [](Device *device, int ordinal) {
    *device = ordinal;
    return ordinal == 0 ? kSuccess : 101; // CUDA_ERROR_INVALID_DEVICE
  };
  t.deviceGetName = [](char *name, int, Device) { return std::strcpy(name, "a GPU"), kSuccess; };
  t.deviceGetUuid = [](Uuid *uuid, Device) { return *uuid = {{1, 2, 3}}, kSuccess; };
  t.deviceGetAttribute = [](int *value, int attribute, Device) {
    *value = attribute == kAttributeCapabilityMajor ? 9 : 0;
    return kSuccess;
  };
  t.primaryContextRetain = [](Context *context, Device) {
    *context = reinterpret_cast<Context>(0x10);
    return kSuccess;
  };
  t.primaryContextRelease = [](Device) { return kSuccess; };
  t.contextSetCurrent = [](Context) { return kSuccess; };
}

void addMemory(DriverTable &t) {
  t.memGetInfo = [](size_t *free, size_t *total) {
    *free = *total = size_t(1) << 40;
    return kSuccess;
  };
  t.memAlloc = [](Address *address, size_t bytes) {
    the().count("memAlloc");
    *address = reinterpret_cast<Address>(the().allocate(bytes, true));
    return kSuccess;
  };
  t.memFree = [](Address address) { return the().free(pointer(address), true), kSuccess; };
  t.memHostAlloc = [](void **memory, size_t bytes, unsigned) {
    the().count("memHostAlloc");
    *memory = the().allocate(bytes, false);
    return kSuccess;
  };
  t.memFreeHost = [](void *memory) { return the().free(memory, false), kSuccess; };
  t.memcpyAsync = memcpyAsync;
  t.memset8 = [](Address to, unsigned char value, size_t count, Stream stream) {
    the().count("memset");
    the().enqueue(stream, {"a fill", {{pointer(to), count, true}}, [=] {
                             std::memset(the().viewOf(to), value, count);
                           }});
    return kSuccess;
  };
  t.memset16 = [](Address to, unsigned short, size_t n, Stream s) { return fill(to, 2 * n, s); };
  t.memset32 = [](Address to, unsigned, size_t n, Stream s) { return fill(to, 4 * n, s); };
  t.memset2D32 = [](Address to, size_t pitch, unsigned, size_t width, size_t height, Stream s) {
    return fill(to, pitch * (height - 1) + 4 * width, s);
  };
}

void addWork(DriverTable &t) {
  t.moduleLoadDataEx = [](Module *module, const void *, unsigned, int *, void **) {
    return make("moduleLoadDataEx", "module", module);
  };
  t.moduleUnload = [](Module module) { return unmake("moduleUnload", "module", module); };
  t.moduleGetFunction = [](Function *function, Module, const char *name) {
    const plan::Kernel *kernel = the().kernel(name);
    *function = reinterpret_cast<Function>(const_cast<plan::Kernel *>(kernel));
    return kernel ? kSuccess : kErrorNotFound;
  };
  t.launchKernel = launchKernel;
  t.streamCreate = [](Stream *stream, unsigned) {
    *stream = static_cast<Stream>(the().createStream());
    return kSuccess;
  };
  t.streamDestroy = [](Stream s) { return unmake("streamDestroy", "stream", s); };
  t.streamSynchronize = [](Stream stream) {
    the().count("streamSynchronize");
    return the().synchronize(stream), kSuccess;
  };
  t.streamWaitEvent = [](Stream stream, EventRef event, unsigned) {
    the().count("streamWaitEvent");
    return the().wait(event, stream), kSuccess;
  };
}

void addGraphs(DriverTable &t) {
  t.streamBeginCapture = [](Stream stream, int) { return the().beginCapture(stream), kSuccess; };
  t.streamEndCapture = [](Stream stream, Graph *graph) {
    *graph = static_cast<Graph>(the().endCapture(stream));
    return kSuccess;
  };
  t.eventCreate = [](EventRef *e, unsigned) { return make("eventCreate", "event", e); };
  t.eventDestroy = [](EventRef e) { return unmake("eventDestroy", "event", e); };
  t.eventRecord = [](EventRef event, Stream stream, unsigned flags) {
    the().count("eventRecord");
    return the().record(event, stream, flags == kEventRecordExternal), kSuccess;
  };
  t.eventSynchronize = [](EventRef event) {
    the().count("eventSynchronize");
    return the().await(event), kSuccess;
  };
  t.eventElapsedTime = [](float *milliseconds, EventRef begin, EventRef end) {
    return *milliseconds = the().millisecondsBetween(begin, end), kSuccess;
  };
  t.graphInstantiate = [](GraphExec *executable, Graph graph, unsigned long long) {
    the().count("graphInstantiate");
    *executable = static_cast<GraphExec>(the().instantiate(graph));
    return kSuccess;
  };
  t.graphUpload = [](GraphExec, Stream) { return kSuccess; };
  t.graphLaunch = [](GraphExec graph, Stream stream) {
    the().count("graphLaunch");
    return the().launch(graph, stream), kSuccess;
  };
  t.graphDestroy = [](Graph graph) { return unmake("graphDestroy", "graph", graph); };
  t.graphExecDestroy = [](GraphExec graph) {
    return unmake("graphExecDestroy", "executable graph", graph);
  };
}

DriverTable makeTable() {
  DriverTable t{};
  addMachine(t), addMemory(t), addWork(t), addGraphs(t);
  return t;
}

} // namespace

const DriverTable &recordingDriver() {
  static const DriverTable table = makeTable();
  return table;
}

device::CudaLibraries recordingLibraries() {
  return {.driver = [] { return Result<const DriverTable *>(&recordingDriver()); },
          .blas = [] { return Result<const device::blas::BlasTable *>(&recordingBlas()); },
          .dnn = [] { return Result<const device::dnn::DnnTable *>(&recordingDnn()); }};
}

} // namespace cleave::test
