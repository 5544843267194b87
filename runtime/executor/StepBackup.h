// StepBackup: a copy of all parameters and states from before a step, to undo the step.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"
#include "runtime/memory/Arenas.h"

#include <memory>
#include <vector>

namespace cleave::executor {

class StepBackup {
public:
  // Allocates memory for the copy. A user error if memory does not suffice. The arenas outlive the
  // backup; this process addresses their memory.
  static Result<std::unique_ptr<StepBackup>> create(const plan::Program &program,
                                                    const memory::Arenas &arenas);

  // Copies all values; to be called before a step.
  void save();
  // Gives all buffers the values of the last save().
  void restore();

  // The memory of the copy, and its size in bytes.
  const void *memory() const { return memory_.get(); }
  uint64_t bytes() const { return bytes_; }

private:
  // One buffer; `offset` is that of its copy, in bytes.
  struct Part {
    void *buffer;
    uint64_t offset, bytes;
  };
  void *copyOf(const Part &part) const;

  std::vector<Part> parts_;
  std::shared_ptr<void> memory_;
  uint64_t bytes_ = 0;
};

} // namespace cleave::executor
