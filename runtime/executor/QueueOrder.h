// QueueOrder: the events that order the queues of a rank's step. All queues start a step after
// queue 0. An instruction starts after the instructions that it waits for in the plan have ended.
// Queue 0 continues after all other queues have ended. Private to this folder.
#pragma once

#include "runtime/executor/EarlyLoads.h"
#include "runtime/executor/Instructions.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace cleave::executor {

class QueueOrder {
public:
  // The context's references and `earlyLoads` must outlive this object. EarlyLoads orders the early
  // loads.
  QueueOrder(const ExecutionContext &context, const EarlyLoads &earlyLoads);

  // Creates the events, and the actions of begin() and end().
  Status prepare();

  // Whether the step uses queues other than queue 0.
  bool usesOtherQueues() const { return !otherQueues_.empty(); }

  // The wait actions that precede an instruction in its queue, one per instruction that it waits
  // for. A wait for an instruction that has not run in this step has no effect.
  Result<std::vector<std::unique_ptr<device::Action>>>
  waitsOf(const plan::Instruction &instruction);
  // The action that records the end of an instruction; null if no other one waits for it.
  device::PreparedAction recordOf(uint32_t segment, uint32_t index);

  // To be called when the schedule of a step starts, and when it has ended.
  Status begin();
  Status end();

private:
  // The end of an instruction for which others wait.
  struct End {
    device::Event event = 0;
    bool isRecorded = false; // in this step
  };
  class Record;
  class WaitIfRecorded;

  const plan::Instruction &instructionAt(uint32_t number) const;
  // The scheduled instructions, without early loads.
  std::vector<const plan::Instruction *> instructions() const;

  ExecutionContext context_;
  const EarlyLoads &earlyLoads_;
  std::vector<uint32_t> first_;  // by segment: the number of its first instruction in the program
  std::map<uint32_t, End> ends_; // by number of the instruction
  std::vector<uint32_t> otherQueues_;
  std::vector<std::unique_ptr<device::Action>> begin_, end_;
};

} // namespace cleave::executor
