// StepActions: the prepared actions of one rank's step, in the order in which they run: those of
// its instructions, between them those that order the queues (QueueOrder.h), take times
// (EventTimes.h) and mark what early loads wait for. Private to this folder.
#pragma once

#include "runtime/executor/EarlyLoads.h"
#include "runtime/executor/EventTimes.h"
#include "runtime/executor/ExecutionProfile.h"
#include "runtime/executor/Instructions.h"
#include "runtime/executor/MemoryCheck.h"
#include "runtime/executor/QueueOrder.h"

#include <atomic>
#include <memory>
#include <vector>

namespace cleave::executor {

class StepActions {
public:
  // `check` and `profile` may be null. All outlive the actions.
  StepActions(const ExecutionContext &context, MemoryCheck *check, ExecutionProfile *profile,
              std::atomic<uint64_t> &position)
      : context_(context), earlyLoads_(context), order_(context, earlyLoads_), check_(check),
        profile_(profile), position_(position) {}
  // QueueOrder refers to the early loads.
  StepActions(const StepActions &) = delete;

  // Prepares the instructions that the schedule runs; the errors of prepare(), with the
  // instruction's name.
  Status prepare();

  // Runs early loads and the whole schedule, or enqueues them on devices other than the host. Where
  // the device and the communicators can, the first run after the very first one with each set of
  // staging blocks is recorded, without the early loads, and later runs replay the recording.
  Status run();
  // To be called after each step, when the device has completed it: adds the times to the profile.
  Status noteTimes();

private:
  // An action and the instruction to which it belongs; those that only order queues belong to the
  // one before which or after which they stand. `instruction` is its index in its segment.
  struct Entry {
    std::unique_ptr<device::Action> action;
    uint32_t instruction;
    bool isWait = false; // its failure is one of an earlier instruction
  };

  Status prepareSegment(uint32_t segment);
  Status prepareInstruction(uint32_t segment, uint32_t index);
  device::PreparedAction actionOf(uint32_t segment, uint32_t index);
  bool isScheduled(uint32_t segment) const;

  bool canRecord() const;
  Status runOnce();
  Status runSchedule();
  Status runSegment(uint32_t segment);
  Status runProfiled(uint32_t segment);
  void notePosition(uint32_t instruction);
  Status failed(const Status &status, uint32_t segment, uint32_t index) const;
  const plan::Instruction &instructionAt(uint32_t segment, uint32_t index) const;

  ExecutionContext context_;
  EarlyLoads earlyLoads_;
  QueueOrder order_;
  MemoryCheck *check_;
  ExecutionProfile *profile_;
  std::unique_ptr<EventTimes> times_; // null: the host takes the times, or none are taken
  std::atomic<uint64_t> &position_;
  std::vector<std::vector<Entry>> segments_;
  bool hasRun_ = false;
  std::unique_ptr<device::Action> recordings_[Staging::kSets];
};

} // namespace cleave::executor
