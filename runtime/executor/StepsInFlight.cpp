// See StepsInFlight.h.
#include "runtime/executor/StepsInFlight.h"

#include <algorithm>

namespace cleave::executor {

Status StepsInFlight::prepare() {
  if (device_.isHost())
    return Status::ok();
  device_.prepareFor(kComputeQueue);
  for (Mark &mark : marks_) {
    CLEAVE_TRY_ASSIGN(mark.event, device_.createEvent(/*isTimed=*/true));
    CLEAVE_TRY_ASSIGN(mark.record, device_.record(mark.event));
  }
  return Status::ok();
}

void StepsInFlight::begin() {
  if (!completed_)
    completed_ = Clock::now();
}

Status StepsInFlight::add(int64_t step) {
  Mark &mark = markOf(step);
  if (mark.record)
    CLEAVE_TRY(mark.record->run());
  mark.enqueued = Clock::now();
  last_ = step;
  ++size_;
  return Status::ok();
}

// The host may come after the end of the step; the events then give the time of that end.
Status StepsInFlight::await() {
  if (device_.isHost())
    return device_.synchronize();
  const int64_t step = oldest();
  Mark &mark = markOf(step);
  CLEAVE_TRY(device_.await(mark.event));
  Clock::time_point end = Clock::now();
  if (completedStep_ == step - 1) {
    CLEAVE_TRY_ASSIGN(double seconds, device_.secondsBetween(markOf(step - 1).event, mark.event));
    end = std::min(end, *completed_ + std::chrono::duration_cast<Clock::duration>(
                                          std::chrono::duration<double>(seconds)));
  }
  hostSeconds_ = std::max(0.0, std::chrono::duration<double>(mark.enqueued - *completed_).count());
  completed_ = end;
  completedStep_ = step;
  return Status::ok();
}

void StepsInFlight::remove() { --size_; }

void StepsInFlight::noteOtherWork() {
  completed_ = Clock::now();
  completedStep_.reset();
}

} // namespace cleave::executor
