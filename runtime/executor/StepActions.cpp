// See StepActions.h.
#include "runtime/executor/StepActions.h"

#include "runtime/artifact/Access.h"

#include <algorithm>
#include <set>
#include <utility>

namespace cleave::executor {
namespace {

// Wraps an instruction's action in the memory check.
class CheckedAction : public device::Action {
public:
  CheckedAction(std::unique_ptr<device::Action> action, MemoryCheck &check, const StepState &state,
                size_t index)
      : action_(std::move(action)), check_(check), state_(state), index_(index) {}
  Status run() override {
    CLEAVE_TRY(check_.before(state_.scheduled, index_));
    CLEAVE_TRY(action_->run());
    return check_.after(state_.scheduled, index_);
  }

private:
  std::unique_ptr<device::Action> action_;
  MemoryCheck &check_;
  const StepState &state_;
  size_t index_; // in its segment
};

// Runs an instruction's action and synchronizes with the device.
class WaitingAction : public device::Action {
public:
  WaitingAction(std::unique_ptr<device::Action> action, device::Device &device)
      : action_(std::move(action)), device_(device) {}
  Status run() override {
    CLEAVE_TRY(action_->run());
    return device_.synchronize();
  }

private:
  std::unique_ptr<device::Action> action_;
  device::Device &device_;
};

std::string titleOf(const plan::Instruction &instruction) {
  const std::string kind(artifact::kindName(instruction));
  return instruction.name().empty() ? kind : kind + " '" + instruction.name() + "'";
}

} // namespace

// Records one of the events of each run of an instruction.
class StepActions::TimedRecord : public device::Action {
public:
  TimedRecord(const StepState &state, std::vector<std::unique_ptr<device::Action>> records)
      : state_(state), records_(std::move(records)) {}
  Status run() override { return records_[state_.scheduled]->run(); }

private:
  const StepState &state_;
  std::vector<std::unique_ptr<device::Action>> records_; // by schedule step
};

// Records the end of an instruction.
class StepActions::NotedRecord : public device::Action {
public:
  NotedRecord(std::unique_ptr<device::Action> record, End &end)
      : record_(std::move(record)), end_(end) {}
  Status run() override {
    end_.isRecorded = true;
    return record_->run();
  }

private:
  std::unique_ptr<device::Action> record_;
  End &end_;
};

// Waits for the latest run of an instruction in this step; nothing if there is none.
class StepActions::WaitIfRecorded : public device::Action {
public:
  WaitIfRecorded(std::unique_ptr<device::Action> wait, const End &end)
      : wait_(std::move(wait)), end_(end) {}
  Status run() override { return end_.isRecorded ? wait_->run() : Status::ok(); }

private:
  std::unique_ptr<device::Action> wait_;
  const End &end_;
};

const plan::Segment &StepActions::segmentAt(uint32_t segment) const {
  return context_.program.segments(int(segment));
}

const plan::Instruction &StepActions::instructionAt(uint32_t number) const {
  const auto after = std::ranges::upper_bound(first_, number);
  const auto segment = uint32_t(after - first_.begin()) - 1;
  return segmentAt(segment).instructions(int(number - first_[segment]));
}

std::vector<uint32_t> StepActions::otherQueues() const {
  std::set<uint32_t> queues;
  for (uint32_t segment = 0; segment < first_.size(); ++segment)
    if (isScheduled(segment))
      for (const plan::Instruction &instruction : segmentAt(segment).instructions())
        if (!earlyLoads_.contain(instruction))
          queues.insert(instruction.queue());
  queues.erase(kComputeQueue);
  return {queues.begin(), queues.end()};
}

// -- preparing ------------------------------------------------------------------------------------

Status StepActions::prepare() {
  CLEAVE_TRY(earlyLoads_.prepare());
  uint32_t count = 0;
  for (const plan::Segment &segment : context_.program.segments()) {
    first_.push_back(count);
    count += uint32_t(segment.instructions_size());
  }
  usesOtherQueues_ = !otherQueues().empty();
  CLEAVE_TRY(createTimes());
  CLEAVE_TRY(createEnds());
  CLEAVE_TRY(prepareFork());
  for (uint32_t segment = 0; segment < first_.size(); ++segment) {
    segments_.emplace_back();
    if (isScheduled(segment))
      CLEAVE_TRY(prepareSegment(segment));
  }
  return prepareJoin();
}

bool StepActions::isScheduled(uint32_t segment) const {
  return std::ranges::any_of(context_.program.schedule(), [&](const plan::ScheduleStep &step) {
    return step.segment() == segment;
  });
}

Status StepActions::createTimes() {
  if (!timesEvents())
    return Status::ok();
  device::Device &device = context_.device;
  auto create = [&](std::vector<device::Event> &events) -> Status {
    CLEAVE_TRY_ASSIGN(device::Event event, device.createEvent(/*isTimed=*/true));
    events.push_back(event);
    return Status::ok();
  };
  for (const plan::ScheduleStep &step : context_.program.schedule()) {
    Times &times = times_.emplace_back();
    for (int i = 0; i < segmentAt(step.segment()).instructions_size(); ++i) {
      CLEAVE_TRY(create(times.begin));
      CLEAVE_TRY(create(times.end));
    }
  }
  CLEAVE_TRY_ASSIGN(stepBegin_, device.createEvent(/*isTimed=*/true));
  device.prepareFor(kComputeQueue);
  CLEAVE_TRY_ASSIGN(markBegin_, device.record(stepBegin_));
  return Status::ok();
}

// For the instructions that others wait for.
Status StepActions::createEnds() {
  for (uint32_t segment = 0; segment < first_.size(); ++segment)
    if (isScheduled(segment))
      for (const plan::Instruction &instruction : segmentAt(segment).instructions())
        for (uint32_t waited : instruction.waits())
          if (!earlyLoads_.contain(instructionAt(waited)))
            ends_[waited];
  for (auto &[number, end] : ends_) {
    CLEAVE_TRY_ASSIGN(end.event, context_.device.createEvent(/*isTimed=*/false));
  }
  return Status::ok();
}

Status StepActions::prepareSegment(uint32_t segment) {
  const plan::Segment &list = segmentAt(segment);
  for (uint32_t index = 0; index < uint32_t(list.instructions_size()); ++index) {
    if (earlyLoads_.contain(list.instructions(int(index))))
      continue;
    CLEAVE_TRY(prepareInstruction(segment, index));
    CLEAVE_TRY(addReadMark(segment, index));
    CLEAVE_TRY(addRecord(segment, index));
  }
  return Status::ok();
}

Status StepActions::prepareInstruction(uint32_t segment, uint32_t index) {
  const plan::Instruction &instruction = segmentAt(segment).instructions(int(index));
  for (uint32_t waited : instruction.waits())
    CLEAVE_TRY(addWait(segment, index, waited));
  CLEAVE_TRY(addTimedRecord(segment, index, &Times::begin));
  context_.device.prepareFor(instruction.queue());
  device::PreparedAction action = executor::prepare(context_, segment, instruction);
  if (!action)
    return action.status().withContext(titleOf(instruction));
  if (check_)
    *action = std::make_unique<CheckedAction>(std::move(*action), *check_, context_.state, index);
  if (context_.waits)
    *action = std::make_unique<WaitingAction>(std::move(*action), context_.device);
  segments_[segment].push_back({std::move(*action), index});
  return addTimedRecord(segment, index, &Times::end);
}

// Adds a record in one queue and a wait for it in another.
static Status order(device::Device &device, uint32_t before, uint32_t after,
                    std::vector<std::unique_ptr<device::Action>> &actions) {
  CLEAVE_TRY_ASSIGN(device::Event event, device.createEvent(/*isTimed=*/false));
  device.prepareFor(before);
  CLEAVE_TRY_ASSIGN(auto record, device.record(event));
  device.prepareFor(after);
  CLEAVE_TRY_ASSIGN(auto wait, device.wait(event));
  actions.push_back(std::move(record));
  actions.push_back(std::move(wait));
  return Status::ok();
}

Status StepActions::prepareFork() {
  for (uint32_t queue : otherQueues())
    CLEAVE_TRY(order(context_.device, kComputeQueue, queue, fork_));
  return Status::ok();
}

Status StepActions::prepareJoin() {
  for (uint32_t queue : otherQueues())
    CLEAVE_TRY(order(context_.device, queue, kComputeQueue, join_));
  return Status::ok();
}

Status StepActions::addRecord(uint32_t segment, uint32_t index) {
  auto end = ends_.find(first_[segment] + index);
  if (end == ends_.end())
    return Status::ok();
  context_.device.prepareFor(segmentAt(segment).instructions(int(index)).queue());
  CLEAVE_TRY_ASSIGN(auto record, context_.device.record(end->second.event));
  segments_[segment].push_back(
      {std::make_unique<NotedRecord>(std::move(record), end->second), index});
  return Status::ok();
}

Status StepActions::addWait(uint32_t segment, uint32_t index, uint32_t waited) {
  auto end = ends_.find(waited);
  if (end == ends_.end()) // an early load: the whole step waits for it
    return Status::ok();
  context_.device.prepareFor(segmentAt(segment).instructions(int(index)).queue());
  CLEAVE_TRY_ASSIGN(auto wait, context_.device.wait(end->second.event));
  segments_[segment].push_back(
      {std::make_unique<WaitIfRecorded>(std::move(wait), end->second), index, /*isWait=*/true});
  return Status::ok();
}

Status StepActions::addReadMark(uint32_t segment, uint32_t index) {
  CLEAVE_TRY_ASSIGN(auto action, earlyLoads_.markAfter(segment, index));
  if (action)
    segments_[segment].push_back({std::move(action), index});
  return Status::ok();
}

Status StepActions::addTimedRecord(uint32_t segment, uint32_t index,
                                   std::vector<device::Event> Times::*which) {
  if (!timesEvents())
    return Status::ok();
  context_.device.prepareFor(segmentAt(segment).instructions(int(index)).queue());
  std::vector<std::unique_ptr<device::Action>> records;
  for (size_t scheduled = 0; scheduled < times_.size(); ++scheduled) {
    records.push_back(nullptr);
    if (context_.program.schedule(int(scheduled)).segment() == segment) {
      CLEAVE_TRY_ASSIGN(records.back(), context_.device.record((times_[scheduled].*which)[index]));
    }
  }
  segments_[segment].push_back(
      {std::make_unique<TimedRecord>(context_.state, std::move(records)), index});
  return Status::ok();
}

// -- running --------------------------------------------------------------------------------------

bool StepActions::canRecord() const {
  return context_.device.canRecord() && context_.canRecordCalls && !profile_ && !check_ &&
         !context_.waits;
}

Status StepActions::run() {
  Status status = runOnce();
  if (!status && context_.device.isHost()) // its other queues may still use the memory
    (void)context_.device.synchronize();
  return status;
}

Status StepActions::runOnce() {
  CLEAVE_TRY(earlyLoads_.run());
  // The first step is not recorded: libraries may load code when it first runs, which a recording
  // cannot hold.
  if (!canRecord() || !std::exchange(hasRun_, true))
    return runSchedule();
  std::unique_ptr<device::Action> &recording =
      recordings_[size_t(context_.state.step) % Staging::kSets];
  if (!recording) {
    CLEAVE_TRY(context_.device.beginRecording());
    Status status = runSchedule();
    device::PreparedAction recorded = context_.device.endRecording();
    CLEAVE_TRY(status);
    CLEAVE_TRY(recorded.status());
    recording = std::move(*recorded);
  }
  return recording->run();
}

Status StepActions::runSchedule() {
  if (markBegin_) {
    hostBegin_ = ExecutionProfile::now();
    CLEAVE_TRY(markBegin_->run());
  }
  for (auto &[number, end] : ends_)
    end.isRecorded = false;
  for (const std::unique_ptr<device::Action> &action : fork_)
    CLEAVE_TRY(action->run());
  for (int i = 0; i < context_.program.schedule_size(); ++i) {
    const plan::ScheduleStep &scheduled = context_.program.schedule(i);
    context_.state.scheduled = size_t(i), context_.state.slot = scheduled.slot();
    CLEAVE_TRY(profile_ && !timesEvents() ? runProfiled(scheduled.segment())
                                          : runSegment(scheduled.segment()));
  }
  for (const std::unique_ptr<device::Action> &action : join_)
    CLEAVE_TRY(action->run());
  return Status::ok();
}

Status StepActions::runSegment(uint32_t segment) {
  for (const Entry &entry : segments_[segment]) {
    notePosition(entry.instruction);
    if (Status status = entry.action->run(); !status)
      return entry.isWait ? status : failed(status, segment, entry.instruction);
  }
  return Status::ok();
}

Status StepActions::runProfiled(uint32_t segment) {
  for (const Entry &entry : segments_[segment]) {
    notePosition(entry.instruction);
    double begin = ExecutionProfile::now();
    if (Status status = entry.action->run(); !status)
      return entry.isWait ? status : failed(status, segment, entry.instruction);
    profile_->record(segment, entry.instruction, context_.state.slot, begin,
                     ExecutionProfile::now());
  }
  return Status::ok();
}

Status StepActions::noteTimes() {
  for (size_t scheduled = 0; scheduled < times_.size(); ++scheduled) {
    const plan::ScheduleStep &step = context_.program.schedule(int(scheduled));
    const Times &times = times_[scheduled];
    for (uint32_t i = 0; i < times.begin.size(); ++i) {
      CLEAVE_TRY_ASSIGN(double begin, context_.device.secondsBetween(stepBegin_, times.begin[i]));
      CLEAVE_TRY_ASSIGN(double end, context_.device.secondsBetween(stepBegin_, times.end[i]));
      profile_->record(step.segment(), i, step.slot(), hostBegin_ + begin, hostBegin_ + end);
    }
  }
  return Status::ok();
}

void StepActions::notePosition(uint32_t instruction) {
  position_.store(positionOf(context_.state.scheduled, instruction), std::memory_order_relaxed);
}

Status StepActions::failed(const Status &status, uint32_t segment, uint32_t index) const {
  return status.withContext(titleOf(segmentAt(segment).instructions(int(index))));
}

} // namespace cleave::executor
