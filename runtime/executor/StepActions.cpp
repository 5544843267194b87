// See StepActions.h.
#include "runtime/executor/StepActions.h"

#include "runtime/artifact/Access.h"

#include <algorithm>
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

const plan::Instruction &StepActions::instructionAt(uint32_t segment, uint32_t index) const {
  return context_.program.segments(int(segment)).instructions(int(index));
}

// -- preparing ------------------------------------------------------------------------------------

Status StepActions::prepare() {
  CLEAVE_TRY(earlyLoads_.prepare());
  CLEAVE_TRY(order_.prepare());
  if (profile_ && (!context_.device.isHost() || order_.usesOtherQueues())) {
    times_ = std::make_unique<EventTimes>(context_, *profile_);
    CLEAVE_TRY(times_->prepare());
  }
  segments_.resize(size_t(context_.program.segments_size()));
  for (uint32_t segment = 0; segment < segments_.size(); ++segment)
    if (isScheduled(segment))
      CLEAVE_TRY(prepareSegment(segment));
  return Status::ok();
}

bool StepActions::isScheduled(uint32_t segment) const {
  return std::ranges::any_of(context_.program.schedule(), [&](const plan::ScheduleStep &step) {
    return step.segment() == segment;
  });
}

Status StepActions::prepareSegment(uint32_t segment) {
  const auto &instructions = context_.program.segments(int(segment)).instructions();
  for (uint32_t index = 0; index < uint32_t(instructions.size()); ++index)
    if (!earlyLoads_.contain(instructions[int(index)]))
      CLEAVE_TRY(prepareInstruction(segment, index));
  return Status::ok();
}

Status StepActions::prepareInstruction(uint32_t segment, uint32_t index) {
  auto add = [&](device::PreparedAction action) -> Status {
    CLEAVE_TRY(action.status());
    if (*action)
      segments_[segment].push_back({std::move(*action), index});
    return Status::ok();
  };
  CLEAVE_TRY_ASSIGN(auto waits, order_.waitsOf(instructionAt(segment, index)));
  for (std::unique_ptr<device::Action> &wait : waits)
    segments_[segment].push_back({std::move(wait), index, /*isWait=*/true});
  if (times_)
    CLEAVE_TRY(add(times_->beginOf(segment, index)));
  CLEAVE_TRY(add(actionOf(segment, index)));
  if (times_)
    CLEAVE_TRY(add(times_->endOf(segment, index)));
  CLEAVE_TRY(add(earlyLoads_.markAfter(segment, index)));
  return add(order_.recordOf(segment, index));
}

device::PreparedAction StepActions::actionOf(uint32_t segment, uint32_t index) {
  const plan::Instruction &instruction = instructionAt(segment, index);
  context_.device.prepareFor(instruction.queue());
  device::PreparedAction action = executor::prepare(context_, segment, instruction);
  if (!action)
    return action.status().withContext(titleOf(instruction));
  if (check_)
    *action = std::make_unique<CheckedAction>(std::move(*action), *check_, context_.state, index);
  if (context_.waits)
    *action = std::make_unique<WaitingAction>(std::move(*action), context_.device);
  return action;
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
  if (times_)
    CLEAVE_TRY(times_->beginStep());
  CLEAVE_TRY(order_.begin());
  for (int i = 0; i < context_.program.schedule_size(); ++i) {
    const plan::ScheduleStep &scheduled = context_.program.schedule(i);
    context_.state.scheduled = size_t(i), context_.state.slot = scheduled.slot();
    CLEAVE_TRY(profile_ && !times_ ? runProfiled(scheduled.segment())
                                   : runSegment(scheduled.segment()));
  }
  return order_.end();
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

Status StepActions::noteTimes() { return times_ ? times_->note() : Status::ok(); }

void StepActions::notePosition(uint32_t instruction) {
  position_.store(positionOf(context_.state.scheduled, instruction), std::memory_order_relaxed);
}

Status StepActions::failed(const Status &status, uint32_t segment, uint32_t index) const {
  return status.withContext(titleOf(instructionAt(segment, index)));
}

} // namespace cleave::executor
