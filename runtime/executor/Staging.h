// Staging: the values that a step exchanges with the host, on devices whose memory this process
// does not address. Inputs wait in host memory until LoadInput uploads them; the blocks of the next
// step are filled while the device still runs the current one. Metrics and outputs are downloaded
// into host memory and reported after the step. Private to this folder.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"
#include "runtime/device/Device.h"
#include "runtime/executor/InputBlock.h"
#include "runtime/executor/StepState.h"
#include "runtime/memory/MemoryReport.h"

#include <array>
#include <memory>
#include <vector>

namespace cleave::executor {

class Staging {
public:
  // Even and odd steps have blocks of their own.
  static constexpr size_t kSets = 2;

  // All of them outlive the staging.
  Staging(const plan::Program &program, device::Device &device, StepState &state)
      : program_(program), device_(device), state_(state) {}

  // Each prepares an instruction of `segment` for the queue that the device has selected, and
  // allocates its host memory: one block per set and run of the segment, which the runs share if
  // the block is of a whole step. A user error if memory does not suffice.
  device::PreparedAction loadInput(uint32_t segment, InputBlock block, void *to, uint64_t bytes);
  device::PreparedAction storeOutput(uint32_t segment, int tensor, const void *from,
                                     uint64_t bytes);
  device::PreparedAction metric(uint32_t segment, size_t report, const void *from, DType dtype);

  // Fills the input blocks of the step, unless prefetch() has done so. The step before the last one
  // is complete.
  Status fill(int64_t step);
  // Fills those of a step that may come next, while the current one runs. A failure shows when the
  // step is run.
  void prefetch(int64_t step);
  // Adds the metrics and outputs of the current step, which is complete, to the state.
  void collect();

  // The host memory, for the memory report.
  std::vector<memory::KnownRange> ranges() const;

private:
  class TransferAction;
  struct Block {
    std::shared_ptr<void> memory;
    uint64_t bytes;
  };
  // A block per set and schedule step; null for schedule steps of other segments.
  using Blocks = std::array<std::vector<Block>, kSets>;
  struct Input {
    InputBlock block;
    Blocks blocks;
  };
  struct Output {
    uint32_t segment;
    int tensor;
    Blocks blocks;
  };
  struct Metric {
    size_t report;
    DType dtype;
    Blocks blocks;
  };

  Result<Blocks> allocate(uint32_t segment, uint64_t bytes, bool isShared = false) const;
  // Prepares a transfer between `address` and each of the blocks.
  device::PreparedAction transfer(const Blocks &blocks, void *address, bool isUpload);
  size_t setOf(int64_t step) const { return size_t(step) % kSets; }

  const plan::Program &program_;
  device::Device &device_;
  StepState &state_;
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
  std::vector<Metric> metrics_;
  std::array<int64_t, kSets> filled_ = {-1, -1}; // the step whose inputs the set holds
};

} // namespace cleave::executor
