// The CPU device: selects the implementation of each instruction and owns the state that the
// actions share. See CpuDevice.h.
#include "runtime/device/cpu/CpuDevice.h"

#include "runtime/artifact/Modules.h"
#include "runtime/base/Float16.h"
#include "runtime/device/cpu/CpuQueues.h"
#include "runtime/device/cpu/KernelLibrary.h"
#include "runtime/device/cpu/Parts.h"
#include "runtime/memory/Arenas.h"
#include "runtime/memory/FileSpace.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <omp.h>
#include <thread>

namespace cleave::device {

void inParallel(int64_t extent, const std::function<void(int64_t, int64_t)> &part) {
  int64_t threads = std::min<int64_t>(omp_get_max_threads(), extent);
  if (threads <= 1) {
    part(0, extent);
    return;
  }
#pragma omp parallel num_threads(int(threads))
  {
    int64_t self = omp_get_thread_num(), count = omp_get_num_threads();
    int64_t begin = extent * self / count, end = extent * (self + 1) / count;
    if (begin < end)
      part(begin, end);
  }
}

namespace {

// The sum of bytes and FLOPs below which waking the other threads takes longer than it saves.
constexpr double kWorthSharing = 1 << 17;

class LaunchAction : public Action {
public:
  LaunchAction(KernelFunction function, const plan::Kernel &kernel, std::vector<void *> buffers)
      : function_(function), extent_(kernel.extent()), buffers_(std::move(buffers)),
        shared_(kernel.bytes() + kernel.flops() >= kWorthSharing) {}
  Status run() override {
    if (shared_)
      inParallel(extent_,
                 [this](int64_t begin, int64_t end) { function_(buffers_.data(), begin, end); });
    else
      function_(buffers_.data(), 0, extent_);
    return Status::ok();
  }

private:
  KernelFunction function_;
  int64_t extent_;
  std::vector<void *> buffers_;
  bool shared_;
};

class CopyAction : public Action {
public:
  CopyAction(const void *from, void *to, uint64_t bytes)
      : from_(static_cast<const char *>(from)), to_(static_cast<char *>(to)), bytes_(bytes) {}
  Status run() override {
    if (bytes_ < kWorthSharing)
      std::memmove(to_, from_, bytes_);
    else
      inParallel(int64_t(bytes_ + 4095) / 4096, [this](int64_t begin, int64_t end) {
        uint64_t first = uint64_t(begin) * 4096, last = std::min<uint64_t>(bytes_, end * 4096);
        std::memcpy(to_ + first, from_ + first, last - first);
      });
    return Status::ok();
  }

private:
  const char *from_;
  char *to_;
  uint64_t bytes_;
};

// A copy between spaces: on the thread of its queue, and no faster than the link that it stands
// for.
class TransferAction : public Action {
public:
  TransferAction(CpuQueues &queues, uint32_t queue, std::function<Status()> copy,
                 double leastSeconds)
      : queues_(queues), queue_(queue), copy_(std::move(copy)), leastSeconds_(leastSeconds) {}
  Status run() override {
    if (queue_ == kComputeQueue)
      return transfer();
    queues_.push(queue_, [this] { return transfer(); });
    return Status::ok();
  }

private:
  Status transfer() const {
    const auto end = std::chrono::steady_clock::now() + leastSeconds_;
    CLEAVE_TRY(copy_());
    std::this_thread::sleep_until(end);
    return Status::ok();
  }

  CpuQueues &queues_;
  uint32_t queue_;
  std::function<Status()> copy_;
  std::chrono::duration<double> leastSeconds_;
};

// An action that orders queues.
class OrderAction : public Action {
public:
  explicit OrderAction(std::function<Status()> call) : call_(std::move(call)) {}
  Status run() override { return call_(); }

private:
  std::function<Status()> call_;
};

template <typename T> class FillAction : public Action {
public:
  FillAction(void *to, int64_t count, T value)
      : to_(static_cast<T *>(to)), count_(count), value_(value) {}
  Status run() override {
    if (count_ * double(sizeof(T)) < kWorthSharing)
      std::fill(to_, to_ + count_, value_);
    else
      inParallel(count_,
                 [this](int64_t begin, int64_t end) { std::fill(to_ + begin, to_ + end, value_); });
    return Status::ok();
  }

private:
  T *to_;
  int64_t count_;
  T value_;
};

template <typename T> PreparedAction makeFill(void *to, int64_t count, T value) {
  return PreparedAction(std::make_unique<FillAction<T>>(to, count, value));
}

// Whether rows or columns are contiguous, which gemms require. The stride of a dim of size 1 is
// ignored.
bool isRegular(const std::vector<int64_t> &strides, int64_t rows, int64_t columns) {
  int64_t row = strides[strides.size() - 2], column = strides[strides.size() - 1];
  if (rows == 1 || columns == 1)
    return (rows == 1 || row > 0) && (columns == 1 || column > 0);
  return (column == 1 && row >= columns) || (row == 1 && column >= rows);
}

class CpuDevice : public Device {
public:
  CpuDevice(int threads, std::string folder) : threads_(threads), folder_(std::move(folder)) {
    omp_set_num_threads(threads_);
  }

  std::string name() const override { return "cpu"; }
  std::string identity() const override { return "host"; }
  bool isHost() const override { return true; }

  Result<std::shared_ptr<void>> allocate(plan::Space space, uint64_t bytes) override {
    if (space != plan::FILE)
      return memory::allocatePages(bytes);
    CLEAVE_TRY_ASSIGN(std::shared_ptr<memory::FileSpace> file,
                      memory::FileSpace::create(folder_, bytes));
    files_.push_back(file);
    return std::shared_ptr<void>(file, file->begin());
  }
  Status write(void *to, const void *from, uint64_t bytes) override {
    CLEAVE_TRY(queues_.synchronize());
    return copyNow(from, to, bytes);
  }
  Status read(const void *from, void *to, uint64_t bytes) override {
    return write(to, from, bytes);
  }

  void prepareFor(uint32_t queue) override {
    queue_ = queue == kTransferQueue ? kTransferQueue : kComputeQueue;
  }

  Status loadKernels(const plan::Plan &plan) override {
    if (plan.device() != artifact::kCpu)
      return Status::userError(
          "the plan is for ", plan.device(), " (", artifact::targetsText(plan),
          "), this device is a CPU; run it where there is a GPU, or compile the model "
          "with --device cpu");
    const plan::Module *module = artifact::cpuModuleOf(plan);
    return module ? kernels_.load(module->code(), module->machine()) : Status::ok();
  }

  PreparedAction launch(const plan::Kernel &kernel, std::vector<void *> buffers) override {
    CLEAVE_TRY_ASSIGN(KernelFunction function, kernels_.find(kernel.symbol()));
    return PreparedAction(std::make_unique<LaunchAction>(function, kernel, std::move(buffers)));
  }

  PreparedAction matmul(const plan::Matmul &matmul, const MatmulOperands &operands) override {
    int64_t size = byteSize(operands.dtype), outSize = byteSize(operands.outDtype);
    MatmulOperands at = operands;
    at.lhs = static_cast<const char *>(operands.lhs) + matmul.lhs().offset() * size;
    at.rhs = static_cast<const char *>(operands.rhs) + matmul.rhs().offset() * size;
    at.out = static_cast<char *>(operands.out) + matmul.out().offset() * outSize;
    MatmulShape shape = simplified(matmul);
    int64_t elements = shape.m * shape.n;
    for (int64_t count : shape.batch)
      elements *= count;
    if (elements == 0 || (shape.k == 0 && matmul.accumulate() && !operands.bias))
      return PreparedAction(std::make_unique<NoAction>());
    bool regular = isRegular(shape.lhs, shape.m, shape.k) &&
                   isRegular(shape.rhs, shape.k, shape.n) && isRegular(shape.out, shape.m, shape.n);
    if (!isDnnlType(operands.dtype) || !regular || shape.k == 0)
      return preparePlainMatmul(shape, matmul.accumulate(), at);
    return prepareDnnlMatmul(shape, matmul.accumulate(), at, scratch_);
  }

  PreparedAction convolution(const plan::Convolution &convolution,
                             const ConvolutionOperands &operands) override {
    if (!isDnnlType(operands.dtype))
      return preparePlainConvolution(convolution, operands);
    return prepareDnnlConvolution(convolution, operands, scratch_);
  }

  PreparedAction attention(const plan::Attention &attention,
                           const AttentionOperands &operands) override {
    return prepareAttention(attention, operands);
  }

  PreparedAction groupedMatmul(const plan::GroupedMatmul &matmul,
                               const GroupedMatmulOperands &operands) override {
    return prepareGroupedMatmul(matmul, operands, scratch_);
  }

  PreparedAction copy(const void *from, void *to, uint64_t bytes) override {
    return PreparedAction(std::make_unique<CopyAction>(from, to, bytes));
  }

  PreparedAction fill(void *to, DType dtype, int64_t count, double value) override {
    switch (dtype) {
    case DType::F32:
      return makeFill<float>(to, count, float(value));
    case DType::F64:
      return makeFill<double>(to, count, value);
    case DType::BF16:
      return makeFill<uint16_t>(to, count, toBF16(float(value)));
    case DType::I16:
      return makeFill<int16_t>(to, count, int16_t(value));
    case DType::I32:
      return makeFill<int32_t>(to, count, int32_t(value));
    case DType::I64:
      return makeFill<int64_t>(to, count, int64_t(value));
    case DType::I8:
      return makeFill<int8_t>(to, count, int8_t(value));
    case DType::U16:
      return makeFill<uint16_t>(to, count, uint16_t(value));
    case DType::U32:
      return makeFill<uint32_t>(to, count, uint32_t(value));
    case DType::U64:
      return makeFill<uint64_t>(to, count, uint64_t(value));
    case DType::U8:
    case DType::Bool:
      return makeFill<uint8_t>(to, count, uint8_t(value));
    case DType::F16:
      return makeFill<uint16_t>(to, count, toF16(float(value)));
    }
    return Status::userError("the CPU cannot fill ", cleave::name(dtype), " with ", value);
  }

  PreparedAction upload(const void *from, void *to, uint64_t bytes, double leastSeconds) override {
    return PreparedAction(std::make_unique<TransferAction>(
        queues_, queue_, [this, from, to, bytes] { return copyNow(from, to, bytes); },
        leastSeconds));
  }
  PreparedAction download(const void *from, void *to, uint64_t bytes,
                          double leastSeconds) override {
    return upload(from, to, bytes, leastSeconds);
  }

  Status finishPreparing() override { return scratch_.allocate(); }
  uint64_t libraryBytes() const override { return scratch_.bytes(); }

  Result<Event> createEvent(bool isTimed) override { return queues_.createEvent(isTimed); }
  PreparedAction record(Event event) override {
    return PreparedAction(std::make_unique<OrderAction>([this, event, queue = queue_] {
      queues_.record(event, queue);
      return Status::ok();
    }));
  }
  PreparedAction recordOutside(Event event) override { return record(event); }
  PreparedAction wait(Event event) override {
    return PreparedAction(std::make_unique<OrderAction>(
        [this, event, queue = queue_] { return queues_.wait(event, queue); }));
  }
  Result<double> secondsBetween(Event begin, Event end) override {
    return queues_.secondsBetween(begin, end);
  }
  void *handleOf(uint32_t) override { return nullptr; }
  Status synchronize() override { return queues_.synchronize(); }
  Status synchronize(uint32_t queue) override { return queues_.synchronize(queue); }
  Status await(Event event) override { return queues_.wait(event, kComputeQueue); }

  bool canRecord() const override { return false; }
  Status beginRecording() override { return Status::defect("a CPU records no actions"); }
  PreparedAction endRecording() override { return Status::defect("a CPU records no actions"); }

private:
  // Between addresses of any spaces, at once.
  Status copyNow(const void *from, void *to, uint64_t bytes) const {
    if (memory::FileSpace *file = fileOf(to))
      return file->write(to, from, bytes);
    if (memory::FileSpace *file = fileOf(from))
      return file->read(from, to, bytes);
    std::memcpy(to, from, bytes);
    return Status::ok();
  }

  // The file of an address; null: it is one of memory.
  memory::FileSpace *fileOf(const void *address) const {
    auto at =
        std::ranges::find_if(files_, [&](const auto &file) { return file->contains(address); });
    return at == files_.end() ? nullptr : at->get();
  }

  int threads_;
  std::string folder_;
  std::vector<std::shared_ptr<memory::FileSpace>> files_;
  KernelLibrary kernels_;
  Scratch scratch_;
  uint32_t queue_ = kComputeQueue; // of the actions that are prepared
  CpuQueues queues_;               // destroyed first: its work uses the rest
};

} // namespace

std::unique_ptr<Device> makeCpuDevice(int threads, const std::string &fileFolder) {
  return std::make_unique<CpuDevice>(std::max(1, threads), fileFolder);
}

} // namespace cleave::device
