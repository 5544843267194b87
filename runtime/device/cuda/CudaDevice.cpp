// The CUDA device: selects the implementation of each instruction. See CudaDevice.h.
#include "runtime/device/cuda/CudaDevice.h"

#include "runtime/base/Float16.h"
#include "runtime/device/cuda/CudaContext.h"
#include "runtime/device/cuda/CudaModule.h"
#include "runtime/device/cuda/Parts.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace cleave::device {
namespace {

class CopyAction : public Action {
public:
  CopyAction(const CudaContext &context, const void *from, void *to, uint64_t bytes)
      : context_(context), stream_(context.stream()), from_(from), to_(to), bytes_(bytes) {}
  Status run() override { return context_.copy(from_, to_, bytes_, stream_); }

private:
  const CudaContext &context_;
  driver::Stream stream_;
  const void *from_;
  void *to_;
  uint64_t bytes_;
};

// Sets elements of 1, 2, 4 or 8 bytes to one pattern.
class FillAction : public Action {
public:
  FillAction(const CudaContext &context, void *to, int64_t size, int64_t count, uint64_t pattern)
      : context_(context), stream_(context.stream()), to_(addressOf(to)), size_(size),
        count_(size_t(count)), pattern_(pattern) {}
  Status run() override { return context_.status(set(), "filling"); }

private:
  int set() const {
    const driver::DriverTable &driver = context_.driver();
    switch (size_) {
    case 1:
      return driver.memset8(to_, static_cast<unsigned char>(pattern_), count_, stream_);
    case 2:
      return driver.memset16(to_, static_cast<unsigned short>(pattern_), count_, stream_);
    case 4:
      return driver.memset32(to_, static_cast<unsigned>(pattern_), count_, stream_);
    default: // halves of eight bytes: two matrices of one column
      if (int error =
              driver.memset2D32(to_, 8, static_cast<unsigned>(pattern_), 1, count_, stream_))
        return error;
      return driver.memset2D32(to_ + 4, 8, static_cast<unsigned>(pattern_ >> 32), 1, count_,
                               stream_);
    }
  }

  const CudaContext &context_;
  driver::Stream stream_;
  driver::Address to_;
  int64_t size_;
  size_t count_;
  uint64_t pattern_;
};

// The bits of `value` as an element.
uint64_t patternOf(DType dtype, double value) {
  switch (dtype) {
  case DType::F32:
    return std::bit_cast<uint32_t>(float(value));
  case DType::F64:
    return std::bit_cast<uint64_t>(value);
  case DType::BF16:
    return toBF16(float(value));
  case DType::F16:
    return toF16(float(value));
  case DType::U64:
    return uint64_t(value);
  default:
    return uint64_t(int64_t(value));
  }
}

// `isOutside`: each replay of a recording records the event. The driver refuses the flag for that
// outside of a recording.
class RecordAction : public Action {
public:
  RecordAction(const CudaContext &context, driver::EventRef event, bool isOutside)
      : context_(context), stream_(context.stream()), event_(event), isOutside_(isOutside) {}
  Status run() override {
    const unsigned flags = isOutside_ && context_.isRecording ? driver::kEventRecordExternal
                                                              : driver::kEventRecordDefault;
    return context_.status(context_.driver().eventRecord(event_, stream_, flags),
                           "recording an event");
  }

private:
  const CudaContext &context_;
  driver::Stream stream_;
  driver::EventRef event_;
  bool isOutside_;
};

class WaitAction : public Action {
public:
  WaitAction(const CudaContext &context, driver::EventRef event)
      : context_(context), stream_(context.stream()), event_(event) {}
  Status run() override {
    return context_.status(context_.driver().streamWaitEvent(stream_, event_, 0),
                           "waiting for an event");
  }

private:
  const CudaContext &context_;
  driver::Stream stream_;
  driver::EventRef event_;
};

// Replays recorded actions.
class GraphAction : public Action {
public:
  GraphAction(const CudaContext &context, driver::GraphExec graph)
      : context_(context), graph_(graph) {}
  ~GraphAction() override { context_.driver().graphExecDestroy(graph_); }
  Status run() override {
    return context_.status(context_.driver().graphLaunch(graph_, context_.stream(kComputeQueue)),
                           "launching a step");
  }

private:
  const CudaContext &context_;
  driver::GraphExec graph_;
};

class CudaDevice : public Device {
public:
  CudaDevice(std::unique_ptr<CudaContext> context, const CudaLibraries &libraries)
      : context_(std::move(context)), kernels_(*context_), products_(*context_, libraries.blas),
        layers_(*context_, libraries.dnn) {}
  ~CudaDevice() override {
    for (driver::EventRef event : events_)
      context_->driver().eventDestroy(event);
  }

  std::string name() const override { return concat("cuda:", context_->index()); }
  std::string identity() const override { return context_->identity(); }
  bool isHost() const override { return false; }

  Result<std::shared_ptr<void>> allocate(plan::Space space, uint64_t bytes) override {
    return context_->allocate(space, bytes);
  }
  // Through pinned memory, a part at a time; copies of pageable memory may return early.
  Status write(void *to, const void *from, uint64_t bytes) override {
    return transfer(bytes, [&](uint64_t at, void *staging, uint64_t part) {
      std::memcpy(staging, static_cast<const char *>(from) + at, part);
      return context_->copy(staging, static_cast<char *>(to) + at, part,
                            context_->stream(kComputeQueue));
    });
  }
  Status read(const void *from, void *to, uint64_t bytes) override {
    return transfer(bytes, [&](uint64_t at, void *staging, uint64_t part) -> Status {
      CLEAVE_TRY(context_->copy(static_cast<const char *>(from) + at, staging, part,
                                context_->stream(kComputeQueue)));
      CLEAVE_TRY(context_->synchronize(context_->stream(kComputeQueue)));
      std::memcpy(static_cast<char *>(to) + at, staging, part);
      return Status::ok();
    });
  }

  Status loadKernels(const plan::Plan &plan) override { return kernels_.load(plan); }
  void prepareFor(uint32_t queue) override { context_->queue = queue; }

  PreparedAction launch(const plan::Kernel &kernel, std::vector<void *> buffers) override {
    return kernels_.launch(kernel, std::move(buffers));
  }
  PreparedAction matmul(const plan::Matmul &matmul, const MatmulOperands &operands) override {
    return products_.prepare(matmul, operands);
  }
  PreparedAction convolution(const plan::Convolution &convolution,
                             const ConvolutionOperands &operands) override {
    return layers_.convolution(convolution, operands);
  }
  PreparedAction attention(const plan::Attention &attention,
                           const AttentionOperands &operands) override {
    return layers_.attention(attention, operands);
  }
  PreparedAction groupedMatmul(const plan::GroupedMatmul &,
                               const GroupedMatmulOperands &) override {
    return Status::defect("grouped products of GPUs are kernels");
  }
  PreparedAction copy(const void *from, void *to, uint64_t bytes) override {
    if (bytes == 0)
      return PreparedAction(std::make_unique<NoAction>());
    return PreparedAction(std::make_unique<CopyAction>(*context_, from, to, bytes));
  }
  PreparedAction fill(void *to, DType dtype, int64_t count, double value) override {
    if (count == 0)
      return PreparedAction(std::make_unique<NoAction>());
    return PreparedAction(std::make_unique<FillAction>(*context_, to, byteSize(dtype), count,
                                                       patternOf(dtype, value)));
  }
  PreparedAction upload(const void *from, void *to, uint64_t bytes, double) override {
    return copy(from, to, bytes);
  }
  PreparedAction download(const void *from, void *to, uint64_t bytes, double) override {
    return copy(from, to, bytes);
  }

  // The plan's workspaces are all that the libraries get.
  Status finishPreparing() override { return Status::ok(); }
  uint64_t libraryBytes() const override { return 0; }

  Result<Event> createEvent(bool isTimed) override {
    driver::EventRef event = nullptr;
    CLEAVE_TRY(
        context_->status(context_->driver().eventCreate(
                             &event, isTimed ? driver::kEventDefault : driver::kEventDisableTiming),
                         "creating an event"));
    events_.push_back(event);
    return Event(events_.size() - 1);
  }
  PreparedAction record(Event event) override {
    return PreparedAction(
        std::make_unique<RecordAction>(*context_, events_[event], /*isOutside=*/false));
  }
  PreparedAction recordOutside(Event event) override {
    return PreparedAction(
        std::make_unique<RecordAction>(*context_, events_[event], /*isOutside=*/true));
  }
  PreparedAction wait(Event event) override {
    return PreparedAction(std::make_unique<WaitAction>(*context_, events_[event]));
  }
  Result<double> secondsBetween(Event begin, Event end) override {
    float milliseconds = 0;
    CLEAVE_TRY(context_->status(
        context_->driver().eventElapsedTime(&milliseconds, events_[begin], events_[end]),
        "reading the time between two events"));
    return double(milliseconds) / 1000;
  }
  void *handleOf(uint32_t queue) override { return context_->stream(queue); }
  Status synchronize() override { return context_->synchronize(); }
  Status synchronize(uint32_t queue) override {
    return context_->synchronize(context_->stream(queue));
  }
  Status await(Event event) override {
    return context_->status(context_->driver().eventSynchronize(events_[event]),
                            "waiting for the GPU");
  }

  bool canRecord() const override { return true; }
  Status beginRecording() override {
    context_->isRecording = true;
    return context_->status(context_->driver().streamBeginCapture(context_->stream(kComputeQueue),
                                                                  driver::kCaptureThreadLocal),
                            "beginning to record a step");
  }
  PreparedAction endRecording() override {
    const driver::DriverTable &driver = context_->driver();
    driver::Graph graph = nullptr;
    driver::GraphExec executable = nullptr;
    context_->isRecording = false;
    CLEAVE_TRY(context_->status(driver.streamEndCapture(context_->stream(kComputeQueue), &graph),
                                "recording a step"));
    int error = driver.graphInstantiate(&executable, graph, 0);
    driver.graphDestroy(graph);
    CLEAVE_TRY(context_->status(error, "preparing a recorded step"));
    auto action = std::make_unique<GraphAction>(*context_, executable);
    CLEAVE_TRY(context_->status(driver.graphUpload(executable, context_->stream(kComputeQueue)),
                                "preparing a recorded step"));
    return PreparedAction(std::move(action));
  }

private:
  static constexpr uint64_t kStagingBytes = 16 << 20;

  // Calls copyPart(offset, pinned memory, bytes) for parts of `bytes`, each after the one before.
  template <typename CopyPart> Status transfer(uint64_t bytes, CopyPart copyPart) {
    CLEAVE_TRY(synchronize());
    if (!staging_ && bytes) {
      CLEAVE_TRY_ASSIGN(staging_, context_->allocate(plan::HOST, kStagingBytes));
    }
    for (uint64_t at = 0; at < bytes; at += kStagingBytes) {
      CLEAVE_TRY(copyPart(at, staging_.get(), std::min(kStagingBytes, bytes - at)));
      CLEAVE_TRY(context_->synchronize(context_->stream(kComputeQueue)));
    }
    return Status::ok();
  }

  std::unique_ptr<CudaContext> context_; // outlives what follows
  CudaModule kernels_;
  BlasProducts products_;
  DnnLayers layers_;
  std::vector<driver::EventRef> events_;
  std::shared_ptr<void> staging_; // of write() and read()
};

} // namespace

Result<int> cudaDeviceCount(const CudaLibraries &libraries) {
  CLEAVE_TRY_ASSIGN(const driver::DriverTable *driver, libraries.driver());
  int error = driver->init(0);
  if (error == driver::kErrorNoDevice)
    return 0;
  if (error != driver::kSuccess)
    return Status::userError("the CUDA driver does not start: ", driver::errorText(*driver, error));
  int count = 0;
  CLEAVE_TRY(driver::statusOf(*driver, driver->deviceGetCount(&count), "counting the GPUs"));
  return count;
}

Result<std::unique_ptr<Device>> makeCudaDevice(int index, const CudaLibraries &libraries) {
  CLEAVE_TRY_ASSIGN(const driver::DriverTable *driver, libraries.driver());
  CLEAVE_TRY_ASSIGN(auto context, CudaContext::create(*driver, index));
  return std::unique_ptr<Device>(std::make_unique<CudaDevice>(std::move(context), libraries));
}

} // namespace cleave::device
