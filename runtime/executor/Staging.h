// Staging: the values that a step exchanges with the host, on devices whose memory this process
// does not address. Inputs wait in host memory until LoadInput uploads them; the blocks of the next
// step are filled while the device still runs the current one. Metrics and outputs are downloaded
// into host memory and reported after the step. Hyperparameters are uploaded before the step for
// which they were set. Private to this folder.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"
#include "runtime/device/Device.h"
#include "runtime/executor/InputBlock.h"
#include "runtime/executor/StepState.h"
#include "runtime/memory/MemoryReport.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace cleave::executor {

class Staging {
public:
  // A set of blocks for even steps and one for odd steps, so that a step can be enqueued while the
  // one before runs.
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
  // Prepares the uploads of a hyperparameter, an F64 scalar at `to`.
  Status addHyperparameter(const std::string &name, void *to);

  // Fills the input blocks of the step, unless prefetch() has done so. The step before the last one
  // is complete.
  Status fill(int64_t step);
  // Fills the input blocks of a step that may come next, while the current one runs. A failure is
  // reported when that step is filled.
  void prefetch(int64_t step);
  // Sets a hyperparameter for the next upload. A defect if there is none of this name.
  Status setHyperparameter(const std::string &name, double value);
  // Enqueues the uploads of the hyperparameters that were set, after all enqueued steps.
  // The step before the last one is complete.
  Status uploadHyperparameters(int64_t step);
  // Replaces the reports in the state by the metrics and outputs of the step, which is complete.
  void collect(int64_t step);

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
  struct Hyperparameter {
    std::string name;
    std::array<std::shared_ptr<void>, kSets> memory;
    std::array<std::unique_ptr<device::Action>, kSets> uploads;
    double value = 0;
    bool isSet = false; // since its last upload
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
  std::vector<Hyperparameter> hyperparameters_;
  std::array<int64_t, kSets> filled_ = {-1, -1}; // the step whose inputs the set holds
};

} // namespace cleave::executor
