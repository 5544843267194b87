// StepActions: the prepared actions of one rank's step, in the order in which they run. Segments
// that use several queues of the device get events where an instruction waits for one of another
// queue, and at their begin and end. Private to this folder.
#pragma once

#include "runtime/executor/EarlyLoads.h"
#include "runtime/executor/ExecutionProfile.h"
#include "runtime/executor/Instructions.h"
#include "runtime/executor/MemoryCheck.h"

#include <atomic>
#include <memory>
#include <vector>

namespace cleave::executor {

class StepActions {
public:
  // `check` and `profile` may be null. All outlive the actions.
  StepActions(const ExecutionContext &context, MemoryCheck *check, ExecutionProfile *profile,
              std::atomic<uint64_t> &position)
      : context_(context), earlyLoads_(context), check_(check), profile_(profile),
        position_(position) {}

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
  // one before which or after which they stand.
  struct Entry {
    std::unique_ptr<device::Action> action;
    uint32_t instruction;
  };
  // The events around each instruction of one run of a segment, if a device's actions are profiled.
  struct Times {
    std::vector<device::Event> begin, end;
  };
  class TimedRecord;

  Status prepareSegment(uint32_t segment);
  Status prepareInstruction(uint32_t segment, uint32_t index,
                            const std::vector<device::Event> &events);
  // Lets the other queues of the segment start after queue 0, and queue 0 go on after them.
  Status fork(uint32_t segment);
  Status join(uint32_t segment);
  Status addRecord(uint32_t segment, uint32_t index, uint32_t queue, device::Event event);
  Status addWait(uint32_t segment, uint32_t index, uint32_t queue, device::Event event);
  Status addReadMark(uint32_t segment, uint32_t index);
  Status addTimedRecord(uint32_t segment, uint32_t index, std::vector<device::Event> Times::*which);
  Status createTimes();
  bool isScheduled(uint32_t segment) const;
  bool timesEvents() const { return profile_ && !context_.device.isHost(); }

  bool canRecord() const;
  Status runSchedule();
  Status runSegment(uint32_t segment);
  Status runProfiled(uint32_t segment);
  void notePosition(uint32_t instruction);
  Status failed(const Status &status, uint32_t segment, uint32_t index) const;
  const plan::Segment &segmentAt(uint32_t segment) const;
  // The other queues that the segment uses.
  std::vector<uint32_t> otherQueues(uint32_t segment) const;

  ExecutionContext context_;
  EarlyLoads earlyLoads_;
  MemoryCheck *check_;
  ExecutionProfile *profile_;
  std::atomic<uint64_t> &position_;
  std::vector<std::vector<Entry>> segments_;
  std::vector<Times> times_; // by schedule step
  device::Event stepBegin_ = 0;
  std::unique_ptr<device::Action> markBegin_; // of the step, for the profile
  double hostBegin_ = 0;
  bool hasRun_ = false;
  std::unique_ptr<device::Action> recordings_[Staging::kSets];
};

} // namespace cleave::executor
