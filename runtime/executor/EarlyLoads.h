// EarlyLoads: the loads of a step's inputs that may run while the step before runs
// (LoadInput.early). They run in front of the step's schedule and outside of its recording: after
// the step before has read the buffers, and before all else of their own step. Private to this
// folder.
#pragma once

#include "runtime/executor/Instructions.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace cleave::executor {

class EarlyLoads {
public:
  explicit EarlyLoads(const ExecutionContext &context) : context_(context) {}

  // Prepares them, if there are any; errors as of executor::prepare().
  Status prepare();

  // Whether an instruction is one of them. None is where steps do not run ahead: it would gain
  // nothing, and runs in its place.
  bool contain(const plan::Instruction &instruction) const {
    return context_.runsAhead && instruction.load_input().early();
  }
  // The action that marks the last read of early inputs in a queue; null unless this instruction
  // makes it.
  device::PreparedAction markAfter(uint32_t segment, uint32_t index) const;
  // Enqueues the loads of the current step.
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
