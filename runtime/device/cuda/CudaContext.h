// CudaContext: what the parts of the CUDA device share: one GPU's context, the stream of each
// queue, memory, and the text of errors. Private to this folder.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/device/Device.h"
#include "runtime/device/cuda/DriverTable.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace cleave::device {

class CudaContext {
public:
  // The GPU with this index; makes its context current in the calling thread. A user error if there
  // is none.
  static Result<std::unique_ptr<CudaContext>> create(const driver::DriverTable &driver, int index);
  ~CudaContext();
  CudaContext(const CudaContext &) = delete;
  CudaContext &operator=(const CudaContext &) = delete;

  const driver::DriverTable &driver() const { return driver_; }
  int index() const { return index_; }
  int capability() const { return capability_; }      // 90: compute capability 9.0
  const std::string &model() const { return model_; } // `NVIDIA H200`
  std::string identity() const;
  driver::Stream stream(uint32_t queue) const { return streams_[queue]; }

  // The queue for which actions are prepared.
  uint32_t queue = kComputeQueue;
  driver::Stream stream() const { return streams_[queue]; }

  // Whether actions are recorded instead of executed.
  bool isRecording = false;

  // Zeroed memory; see Device::allocate. It must not outlive the context.
  Result<std::shared_ptr<void>> allocate(plan::Space space, uint64_t bytes);
  Status copy(const void *from, void *to, uint64_t bytes, driver::Stream stream) const;
  Status synchronize() const;
  Status synchronize(driver::Stream stream) const;

  // Ok, or the failure of a driver call that did `what`.
  Status status(int error, const std::string &what) const;

private:
  CudaContext(const driver::DriverTable &driver, int index) : driver_(driver), index_(index) {}
  Status open();
  Result<std::shared_ptr<void>> allocateHost(uint64_t bytes);
  Result<std::shared_ptr<void>> allocateDevice(uint64_t bytes);

  const driver::DriverTable &driver_;
  int index_;
  driver::Device device_ = 0;
  driver::Context context_ = nullptr;
  std::array<driver::Stream, kQueues> streams_ = {};
  int capability_ = 0;
  std::string model_;
};

// An address as the driver has it.
inline driver::Address addressOf(const void *memory) {
  return reinterpret_cast<driver::Address>(memory);
}

} // namespace cleave::device
