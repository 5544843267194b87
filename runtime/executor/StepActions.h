// StepActions: the prepared actions of one rank's step, in the order in which they run. Segments
// that use several queues of the device get events where an instruction waits for one of another
// queue, and steps at their begin and end. Private to this folder.
#pragma once

#include "runtime/executor/EarlyLoads.h"
#include "runtime/executor/ExecutionProfile.h"
#include "runtime/executor/Instructions.h"
#include "runtime/executor/MemoryCheck.h"

#include <atomic>
#include <map>
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
  // one before which or after which they stand. `instruction` is its index in its segment.
  struct Entry {
    std::unique_ptr<device::Action> action;
    uint32_t instruction;
    bool isWait = false; // its failure is one of an earlier instruction
  };
  // The events around each instruction of one run of a segment, if actions of several queues are
  // profiled.
  struct Times {
    std::vector<device::Event> begin, end;
  };
  class TimedRecord;
  class NotedRecord;
  class WaitIfRecorded;
  // The end of an instruction for which others wait.
  struct End {
    device::Event event = 0;
    bool isRecorded = false; // in this step
  };

  Status createEnds();
  Status prepareSegment(uint32_t segment);
  Status prepareInstruction(uint32_t segment, uint32_t index);
  // Prepares what lets the other queues start a step after queue 0, and queue 0 go on after them.
  Status prepareFork();
  Status prepareJoin();
  Status addRecord(uint32_t segment, uint32_t index);
  Status addWait(uint32_t segment, uint32_t index, uint32_t waited);
  Status addReadMark(uint32_t segment, uint32_t index);
  Status addTimedRecord(uint32_t segment, uint32_t index, std::vector<device::Event> Times::*which);
  Status createTimes();
  bool isScheduled(uint32_t segment) const;
  bool timesEvents() const { return profile_ && (!context_.device.isHost() || usesOtherQueues_); }

  bool canRecord() const;
  Status runOnce();
  Status runSchedule();
  Status runSegment(uint32_t segment);
  Status runProfiled(uint32_t segment);
  void notePosition(uint32_t instruction);
  Status failed(const Status &status, uint32_t segment, uint32_t index) const;
  const plan::Segment &segmentAt(uint32_t segment) const;
  // An instruction by its number over all segments.
  const plan::Instruction &instructionAt(uint32_t number) const;
  // The queues that the step uses, but for queue 0.
  std::vector<uint32_t> otherQueues() const;

  ExecutionContext context_;
  EarlyLoads earlyLoads_;
  MemoryCheck *check_;
  ExecutionProfile *profile_;
  std::atomic<uint64_t> &position_;
  std::vector<uint32_t> first_;  // by segment: the number of its first instruction
  std::map<uint32_t, End> ends_; // by number of the instruction
  std::vector<std::unique_ptr<device::Action>> fork_, join_;
  std::vector<std::vector<Entry>> segments_;
  std::vector<Times> times_; // by schedule step
  device::Event stepBegin_ = 0;
  std::unique_ptr<device::Action> markBegin_; // of the step, for the profile
  double hostBegin_ = 0;
  bool hasRun_ = false;
  bool usesOtherQueues_ = false;
  std::unique_ptr<device::Action> recordings_[Staging::kSets];
};

} // namespace cleave::executor
