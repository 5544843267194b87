// A device in memory of this process that treats it as a GPU's: its addresses cannot be
// dereferenced, and actions are enqueued and run when their queue is synchronized. Checks that
// every access is within one allocation.
#pragma once

#include "runtime/device/Device.h"

#include <deque>
#include <functional>
#include <map>

namespace cleave::comm {

class FakeDevice;

// What handleOf() points to: the work that a library may append.
struct FakeQueue {
  FakeDevice *device = nullptr;
  std::deque<std::function<Status()>> work;
};

class FakeDevice final : public device::Device {
public:
  explicit FakeDevice(std::string identity = "gpu") : identity_(std::move(identity)) {
    for (FakeQueue &queue : queues_)
      queue.device = this;
  }

  // This process's address of `bytes` at a device's or host's address; null outside allocations.
  char *at(const void *address, uint64_t bytes) const;

  std::string name() const override { return "fake"; }
  std::string identity() const override { return identity_; }
  bool isHost() const override { return false; }
  Result<std::shared_ptr<void>> allocate(plan::Space space, uint64_t bytes) override;
  Status write(void *to, const void *from, uint64_t bytes) override;
  Status read(const void *from, void *to, uint64_t bytes) override;

  void prepareFor(uint32_t queue) override { queue_ = queue; }
  device::PreparedAction copy(const void *from, void *to, uint64_t bytes) override;
  device::PreparedAction upload(const void *from, void *to, uint64_t bytes, double) override;
  device::PreparedAction download(const void *from, void *to, uint64_t bytes, double) override;
  void *handleOf(uint32_t queue) override { return &queues_[queue]; }
  Status synchronize() override;
  Status synchronize(uint32_t queue) override;

  // Not used for communication.
  Status loadKernels(const plan::Plan &) override { return none(); }
  device::PreparedAction launch(const plan::Kernel &, std::vector<void *>) override {
    return none();
  }
  device::PreparedAction matmul(const plan::Matmul &, const device::MatmulOperands &) override {
    return none();
  }
  device::PreparedAction convolution(const plan::Convolution &,
                                     const device::ConvolutionOperands &) override {
    return none();
  }
  device::PreparedAction attention(const plan::Attention &,
                                   const device::AttentionOperands &) override {
    return none();
  }
  device::PreparedAction groupedMatmul(const plan::GroupedMatmul &,
                                       const device::GroupedMatmulOperands &) override {
    return none();
  }
  device::PreparedAction fill(void *, DType, int64_t, double) override { return none(); }
  Status finishPreparing() override { return none(); }
  uint64_t libraryBytes() const override { return 0; }
  Result<device::Event> createEvent(bool) override { return none(); }
  device::PreparedAction record(device::Event) override { return none(); }
  device::PreparedAction recordOutside(device::Event) override { return none(); }
  device::PreparedAction wait(device::Event) override { return none(); }
  Status await(device::Event) override { return none(); }
  Result<double> secondsBetween(device::Event, device::Event) override { return none(); }
  bool canRecord() const override { return false; }
  Status beginRecording() override { return none(); }
  device::PreparedAction endRecording() override { return none(); }

private:
  static Status none() { return Status::defect("the fake device only transfers"); }
  device::PreparedAction transfer(const void *from, bool fromDevice, void *to, bool toDevice,
                                  uint64_t bytes);

  std::string identity_;
  uint32_t queue_ = 0;
  FakeQueue queues_[kQueues];
  std::map<uintptr_t, uint64_t> allocations_; // bytes by address
};

} // namespace cleave::comm
