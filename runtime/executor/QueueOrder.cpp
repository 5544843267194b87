// See QueueOrder.h.
#include "runtime/executor/QueueOrder.h"

#include "runtime/artifact/Access.h"
#include "runtime/base/Queue.h"

#include <algorithm>
#include <set>
#include <utility>

namespace cleave::executor {

// Records the end of an instruction.
class QueueOrder::Record : public device::Action {
public:
  Record(std::unique_ptr<device::Action> record, End &end)
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
class QueueOrder::WaitIfRecorded : public device::Action {
public:
  WaitIfRecorded(std::unique_ptr<device::Action> wait, const End &end)
      : wait_(std::move(wait)), end_(end) {}
  Status run() override { return end_.isRecorded ? wait_->run() : Status::ok(); }

private:
  std::unique_ptr<device::Action> wait_;
  const End &end_;
};

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

QueueOrder::QueueOrder(const ExecutionContext &context, const EarlyLoads &earlyLoads)
    : context_(context), earlyLoads_(earlyLoads) {
  uint32_t count = 0;
  for (const plan::Segment &segment : context_.program.segments()) {
    first_.push_back(count);
    count += uint32_t(segment.instructions_size());
  }
  std::set<uint32_t> queues;
  for (const plan::Instruction *instruction : instructions())
    queues.insert(instruction->queue());
  queues.erase(kComputeQueue);
  otherQueues_.assign(queues.begin(), queues.end());
}

Status QueueOrder::prepare() {
  for (const plan::Instruction *instruction : instructions())
    for (uint32_t waited : instruction->waits())
      if (!earlyLoads_.contain(instructionAt(waited)))
        ends_[waited];
  for (auto &[number, end] : ends_) {
    CLEAVE_TRY_ASSIGN(end.event, context_.device.createEvent(/*isTimed=*/false));
  }
  for (uint32_t queue : otherQueues_) {
    CLEAVE_TRY(order(context_.device, kComputeQueue, queue, begin_));
    CLEAVE_TRY(order(context_.device, queue, kComputeQueue, end_));
  }
  return Status::ok();
}

Result<std::vector<std::unique_ptr<device::Action>>>
QueueOrder::waitsOf(const plan::Instruction &instruction) {
  std::vector<std::unique_ptr<device::Action>> waits;
  for (uint32_t waited : instruction.waits()) {
    auto end = ends_.find(waited);
    if (end == ends_.end()) // an early load: the whole step waits for it
      continue;
    context_.device.prepareFor(instruction.queue());
    CLEAVE_TRY_ASSIGN(auto wait, context_.device.wait(end->second.event));
    waits.push_back(std::make_unique<WaitIfRecorded>(std::move(wait), end->second));
  }
  return waits;
}

device::PreparedAction QueueOrder::recordOf(uint32_t segment, uint32_t index) {
  auto end = ends_.find(first_[segment] + index);
  if (end == ends_.end())
    return device::PreparedAction(nullptr);
  context_.device.prepareFor(instructionAt(end->first).queue());
  CLEAVE_TRY_ASSIGN(auto record, context_.device.record(end->second.event));
  return device::PreparedAction(std::make_unique<Record>(std::move(record), end->second));
}

Status QueueOrder::begin() {
  for (auto &[number, end] : ends_)
    end.isRecorded = false;
  for (const std::unique_ptr<device::Action> &action : begin_)
    CLEAVE_TRY(action->run());
  return Status::ok();
}

Status QueueOrder::end() {
  for (const std::unique_ptr<device::Action> &action : end_)
    CLEAVE_TRY(action->run());
  return Status::ok();
}

const plan::Instruction &QueueOrder::instructionAt(uint32_t number) const {
  const auto after = std::ranges::upper_bound(first_, number);
  const auto segment = uint32_t(after - first_.begin()) - 1;
  return context_.program.segments(int(segment)).instructions(int(number - first_[segment]));
}

std::vector<const plan::Instruction *> QueueOrder::instructions() const {
  std::set<uint32_t> segments;
  for (const plan::ScheduleStep &step : context_.program.schedule())
    segments.insert(step.segment());
  std::vector<const plan::Instruction *> found;
  for (uint32_t segment : segments)
    for (const plan::Instruction &instruction :
         context_.program.segments(int(segment)).instructions())
      if (!earlyLoads_.contain(instruction))
        found.push_back(&instruction);
  return found;
}

} // namespace cleave::executor
