// StepsInFlight: the steps that were started and are not finished, in their order. On devices other
// than the host, an event marks the end of each step, so that the host can wait for one step while
// the next one is already enqueued. Private to this folder.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/device/Device.h"
#include "runtime/executor/Staging.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

namespace cleave::executor {

class StepsInFlight {
public:
  // One per set of staging blocks.
  static constexpr size_t kMost = Staging::kSets;

  // The device outlives this object.
  explicit StepsInFlight(device::Device &device) : device_(device) {}
  // Creates the events. Fails where the device cannot.
  Status prepare();

  size_t size() const { return size_; }
  // The step that was started first. Requires size() > 0.
  int64_t oldest() const { return last_ - int64_t(size_) + 1; }
  // Whether `step` can be started: there is room, and it follows the step before.
  bool canAdd(int64_t step) const { return size_ == 0 || (size_ < kMost && step == last_ + 1); }

  // To be called before a step is enqueued.
  void begin();
  // To be called after a step is enqueued: marks its end. Fails if the device is lost.
  Status add(int64_t step);
  // Waits for the oldest step. Fails if the device is lost.
  Status await();
  // Removes the oldest step, which is complete.
  void remove();
  // To be called when the device has completed other work, such as an evaluation.
  void noteOtherWork();

  // Seconds in which the device waited for the host before the last awaited step: from the end of
  // the step before (for the first step, from begin()) until the whole step was enqueued; 0 if it
  // was enqueued before that end. Nothing on hosts.
  std::optional<double> hostSeconds() const { return hostSeconds_; }

private:
  using Clock = std::chrono::steady_clock;
  // The steps in flight, and the one before them.
  static constexpr size_t kMarks = kMost + 1;
  struct Mark {
    device::Event event = 0;
    std::unique_ptr<device::Action> record;
    Clock::time_point enqueued;
  };
  Mark &markOf(int64_t step) { return marks_[size_t(step) % kMarks]; }

  device::Device &device_;
  std::array<Mark, kMarks> marks_;
  size_t size_ = 0;
  int64_t last_ = 0;                           // started last
  std::optional<Clock::time_point> completed_; // when the device completed its last work
  std::optional<int64_t> completedStep_;       // the step that this work was; nothing: other work
  std::optional<double> hostSeconds_;
};

} // namespace cleave::executor
