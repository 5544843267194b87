// EarlyLoads: the loads of a step's inputs that may run while the step before runs
// (LoadInput.early). They are enqueued before the step's schedule and outside of its recording:
// they wait until the step before has read the buffers, and the rest of their step waits for them.
// Private to this folder.
#pragma once

#include "runtime/executor/Instructions.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace cleave::executor {

class EarlyLoads {
public:
  // The context's references outlive this object.
  explicit EarlyLoads(const ExecutionContext &context) : context_(context) {}

  // Prepares the loads, if there are any. Returns the errors of executor::prepare().
  Status prepare();

  // Whether the instruction is one of these loads. Where steps do not run ahead, there are none: a
  // load then runs in its place in the schedule.
  bool contain(const plan::Instruction &instruction) const {
    return context_.runsAhead && instruction.load_input().early();
  }
  // The action that marks the last read of these inputs in a queue, if the instruction is that
  // read; else null.
  device::PreparedAction markAfter(uint32_t segment, uint32_t index) const;
  // Enqueues the loads of the current step, and its wait for them.
  Status run();

private:
  struct LastRead {
    uint32_t index; // of the instruction
    device::Event event;
  };
  Status findReads();
  Status add(device::PreparedAction action);

  ExecutionContext context_;
  uint32_t segment_ = 0;               // of the loads: the one that a step runs first
  std::map<uint32_t, LastRead> reads_; // by queue
  std::vector<std::unique_ptr<device::Action>> actions_; // loads, and those that order them
};

} // namespace cleave::executor
