// StepBackup: a copy of all parameters and states from before a step, to undo the step.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"
#include "runtime/device/Device.h"
#include "runtime/memory/Arenas.h"

#include <memory>
#include <vector>

namespace cleave::executor {

class StepBackup {
public:
  // Allocates host memory for the copy. A user error if memory does not suffice. Arenas and device
  // outlive the backup.
  static Result<std::unique_ptr<StepBackup>>
  create(const plan::Program &program, const memory::Arenas &arenas, device::Device &device);

  // Copies all values; to be called before a step. The copy is complete on return.
  Status save();
  // Gives all buffers the values of the last save().
  Status restore();

  // The memory of the copy in this process, and its size in bytes.
  const void *memory() const { return memory_.get(); }
  uint64_t bytes() const { return bytes_; }

private:
  using Actions = std::vector<std::unique_ptr<device::Action>>;
  explicit StepBackup(device::Device &device) : device_(device) {}
  Status run(const Actions &actions);

  device::Device &device_;
  Actions saving_, restoring_;
  std::shared_ptr<void> memory_;
  uint64_t bytes_ = 0;
};

} // namespace cleave::executor
