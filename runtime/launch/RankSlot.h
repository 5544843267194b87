// A rank's report to its launcher, in memory that both share.
#pragma once

#include <atomic>
#include <cstdint>

namespace cleave::launch {

// Written by the rank, read by the launcher.
struct RankSlot {
  static constexpr size_t kMessageBytes = 2000;
  std::atomic<int64_t> step;      // the current step; -1 before the first
  std::atomic<int64_t> stepBegan; // begin of that step: nanoseconds of the steady clock; 0: none
  std::atomic<int64_t> failedAt;  // time of the failure, likewise; 0: none
  int32_t kind;                   // StatusKind of the failure
  char message[kMessageBytes];
};

} // namespace cleave::launch
