// A rank's report to its launcher, in memory that both share.
#pragma once

#include "runtime/launch/RankReport.h"

#include <atomic>
#include <cstdint>

namespace cleave::launch {

// Written by the rank, read by the launcher; but for endingSignal, which the launcher writes.
struct RankSlot {
  static constexpr size_t kMessageBytes = 2000;
  std::atomic<Place> place;
  std::atomic<int64_t> firstStep; // the first step of this process; -1: none yet
  std::atomic<int64_t> step;      // the current or last step; -1 before the first
  std::atomic<int64_t> stepBegan; // begin of that step: nanoseconds of the steady clock; 0: none
  std::atomic<uint64_t> position; // within the step (Executor.h)
  std::atomic<uint64_t> cpuTime;  // of the thread that runs the steps, in nanoseconds
  std::atomic<int> endingSignal;  // because of which the launcher asks the rank to end; 0: none
  std::atomic<int64_t> failedAt;  // time of the failure, as stepBegan; 0: none
  int32_t kind;                   // StatusKind of the failure
  char message[kMessageBytes];

  // The state before the rank has reported anything.
  RankSlot() : place(Place::Starting), firstStep(-1), step(-1), message{} {}
};

// What the slot says now; `secondsSilent`, `isLost` and the ending of a process are the launcher's.
RankReport reportOf(const RankSlot &slot, int rank);

} // namespace cleave::launch
