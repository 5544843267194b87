// See EventTimes.h.
#include "runtime/executor/EventTimes.h"

#include "runtime/base/Queue.h"

#include <utility>

namespace cleave::executor {

// Records one of the events of the current run of an instruction.
class EventTimes::RecordOfRun : public device::Action {
public:
  RecordOfRun(const StepState &state, std::vector<std::unique_ptr<device::Action>> records)
      : state_(state), records_(std::move(records)) {}
  Status run() override { return records_[state_.scheduled]->run(); }

private:
  const StepState &state_;
  std::vector<std::unique_ptr<device::Action>> records_; // by schedule step
};

Status EventTimes::prepare() {
  device::Device &device = context_.device;
  auto create = [&](std::vector<device::Event> &events) -> Status {
    CLEAVE_TRY_ASSIGN(device::Event event, device.createEvent(/*isTimed=*/true));
    events.push_back(event);
    return Status::ok();
  };
  for (const plan::ScheduleStep &step : context_.program.schedule()) {
    Run &run = runs_.emplace_back();
    const plan::Segment &segment = context_.program.segments(int(step.segment()));
    for (int i = 0; i < segment.instructions_size(); ++i) {
      CLEAVE_TRY(create(run.begin));
      CLEAVE_TRY(create(run.end));
    }
  }
  CLEAVE_TRY_ASSIGN(stepBegin_, device.createEvent(/*isTimed=*/true));
  device.prepareFor(kComputeQueue);
  CLEAVE_TRY_ASSIGN(recordBegin_, device.record(stepBegin_));
  return Status::ok();
}

device::PreparedAction EventTimes::beginOf(uint32_t segment, uint32_t index) const {
  return recordOf(segment, index, &Run::begin);
}

device::PreparedAction EventTimes::endOf(uint32_t segment, uint32_t index) const {
  return recordOf(segment, index, &Run::end);
}

device::PreparedAction EventTimes::recordOf(uint32_t segment, uint32_t index,
                                            std::vector<device::Event> Run::*which) const {
  const plan::Program &program = context_.program;
  context_.device.prepareFor(program.segments(int(segment)).instructions(int(index)).queue());
  std::vector<std::unique_ptr<device::Action>> records;
  for (size_t scheduled = 0; scheduled < runs_.size(); ++scheduled) {
    records.push_back(nullptr);
    if (program.schedule(int(scheduled)).segment() == segment) {
      CLEAVE_TRY_ASSIGN(records.back(), context_.device.record((runs_[scheduled].*which)[index]));
    }
  }
  return device::PreparedAction(std::make_unique<RecordOfRun>(context_.state, std::move(records)));
}

Status EventTimes::beginStep() {
  hostBegin_ = ExecutionProfile::now();
  return recordBegin_->run();
}

Status EventTimes::note() {
  for (size_t scheduled = 0; scheduled < runs_.size(); ++scheduled) {
    const plan::ScheduleStep &step = context_.program.schedule(int(scheduled));
    const Run &run = runs_[scheduled];
    for (uint32_t i = 0; i < run.begin.size(); ++i) {
      CLEAVE_TRY_ASSIGN(double begin, context_.device.secondsBetween(stepBegin_, run.begin[i]));
      CLEAVE_TRY_ASSIGN(double end, context_.device.secondsBetween(stepBegin_, run.end[i]));
      profile_.record(step.segment(), i, step.slot(), hostBegin_ + begin, hostBegin_ + end);
    }
  }
  return Status::ok();
}

} // namespace cleave::executor
