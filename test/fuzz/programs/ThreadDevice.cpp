#include "test/fuzz/programs/ThreadDevice.h"

#include "runtime/artifact/Access.h"
#include "runtime/artifact/KernelSignature.h"
#include "runtime/base/AttentionScratch.h"
#include "runtime/device/cpu/CpuDevice.h"
#include "test/unit/simt/Simt.h"

#include "llvm/IR/Module.h"

#include <algorithm>
#include <deque>

namespace cleave::fuzz {

namespace {

class LaunchThreads : public device::Action {
public:
  LaunchThreads(const llvm::Function &code, const plan::Kernel &kernel, std::vector<void *> buffers)
      : code_(code), kernel_(kernel), buffers_(std::move(buffers)) {}

  Status run() override {
    std::vector<test::CheckedMemory> memory;
    for (int i = 0; i < kernel_.parameters_size(); ++i)
      memory.emplace_back("buffer " + std::to_string(i),
                          std::vector<char>(begin(i), begin(i) + bytes(i)), true);
    std::string fault = test::runSimt(code_, kernel_.grid().blocks(),
                                      static_cast<int>(kernel_.grid().threads()), memory);
    if (!fault.empty())
      return Status::defect(kernel_.symbol(), ": ", fault);
    for (int i = 0; i < kernel_.parameters_size(); ++i)
      if (!std::equal(begin(i), begin(i) + bytes(i), memory[i].bytes().begin()))
        CLEAVE_TRY(store(i, memory[i].bytes()));
    return Status::ok();
  }

private:
  char *begin(int buffer) const { return static_cast<char *>(buffers_[buffer]); }
  int64_t bytes(int buffer) const { return int64_t(kernel_.parameters(buffer).bytes()); }

  // Each array of the interpreter is a copy, which is what the kernel sees on a GPU only if no
  // other one overlaps it.
  Status store(int buffer, const std::vector<char> &result) const {
    for (int i = 0; i < kernel_.parameters_size(); ++i)
      if (i != buffer && begin(i) < begin(buffer) + bytes(buffer) &&
          begin(buffer) < begin(i) + bytes(i))
        return Status::defect(kernel_.symbol(), ": writes buffer ", buffer,
                              ", which overlaps buffer ", i);
    std::ranges::copy(result, begin(buffer));
    return Status::ok();
  }

  const llvm::Function &code_;
  const plan::Kernel &kernel_;
  std::vector<void *> buffers_;
};

class ThreadDevice : public device::Device {
public:
  explicit ThreadDevice(const codegen::GpuIr &ir) : ir_(ir), cpu_(device::makeCpuDevice(1)) {}

  Status loadKernels(const plan::Plan &) override { return Status::ok(); }
  device::PreparedAction launch(const plan::Kernel &kernel, std::vector<void *> buffers) override {
    const llvm::Function *code = ir_.llvm.module->getFunction(artifact::entryOf(kernel));
    if (!code)
      return Status::defect("the module has no kernel '", kernel.symbol(), "'");
    return device::PreparedAction(
        std::make_unique<LaunchThreads>(*code, kernel, std::move(buffers)));
  }

  std::string name() const override { return cpu_->name(); }
  std::string identity() const override { return cpu_->identity(); }
  bool isHost() const override { return true; }
  Result<std::shared_ptr<void>> allocate(plan::Space space, uint64_t bytes) override {
    return cpu_->allocate(space, bytes);
  }
  Status write(void *to, const void *from, uint64_t bytes) override {
    return cpu_->write(to, from, bytes);
  }
  Status read(const void *from, void *to, uint64_t bytes) override {
    return cpu_->read(from, to, bytes);
  }
  void prepareFor(uint32_t) override {} // all queues are the thread that calls
  device::PreparedAction matmul(const plan::Matmul &matmul,
                                const device::MatmulOperands &operands) override {
    return cpu_->matmul(matmul, operands);
  }
  device::PreparedAction convolution(const plan::Convolution &convolution,
                                     const device::ConvolutionOperands &operands) override {
    return cpu_->convolution(convolution, operands);
  }
  device::PreparedAction attention(const plan::Attention &attention,
                                   const device::AttentionOperands &operands) override {
    // Plans for GPUs have a workspace instead of scratch memory.
    device::AttentionOperands scratched = operands;
    scratch_.emplace_back(
        attentionScratchBytes(artifact::sizesOf(attention), byteSize(operands.dtype)));
    scratched.scratch = scratch_.back().data();
    return cpu_->attention(attention, scratched);
  }
  device::PreparedAction groupedMatmul(const plan::GroupedMatmul &matmul,
                                       const device::GroupedMatmulOperands &operands) override {
    return cpu_->groupedMatmul(matmul, operands);
  }
  device::PreparedAction copy(const void *from, void *to, uint64_t bytes) override {
    return cpu_->copy(from, to, bytes);
  }
  device::PreparedAction fill(void *to, DType dtype, int64_t count, double value) override {
    return cpu_->fill(to, dtype, count, value);
  }
  device::PreparedAction upload(const void *from, void *to, uint64_t bytes, double) override {
    return cpu_->upload(from, to, bytes);
  }
  device::PreparedAction download(const void *from, void *to, uint64_t bytes, double) override {
    return cpu_->download(from, to, bytes);
  }
  Status finishPreparing() override { return cpu_->finishPreparing(); }
  uint64_t libraryBytes() const override { return cpu_->libraryBytes(); }
  Result<device::Event> createEvent(bool isTimed) override { return cpu_->createEvent(isTimed); }
  device::PreparedAction record(device::Event event) override { return cpu_->record(event); }
  device::PreparedAction recordOutside(device::Event event) override {
    return cpu_->recordOutside(event);
  }
  device::PreparedAction wait(device::Event event) override { return cpu_->wait(event); }
  Result<double> secondsBetween(device::Event begin, device::Event end) override {
    return cpu_->secondsBetween(begin, end);
  }
  void *handleOf(uint32_t queue) override { return cpu_->handleOf(queue); }
  Status synchronize() override { return cpu_->synchronize(); }
  Status synchronize(uint32_t queue) override { return cpu_->synchronize(queue); }
  Status await(device::Event event) override { return cpu_->await(event); }
  bool canRecord() const override { return cpu_->canRecord(); }
  Status beginRecording() override { return cpu_->beginRecording(); }
  device::PreparedAction endRecording() override { return cpu_->endRecording(); }

private:
  const codegen::GpuIr &ir_;
  std::unique_ptr<device::Device> cpu_;
  std::deque<std::vector<char>> scratch_; // of attention
};

} // namespace

std::unique_ptr<device::Device> makeThreadDevice(const codegen::GpuIr &ir) {
  return std::make_unique<ThreadDevice>(ir);
}

} // namespace cleave::fuzz
