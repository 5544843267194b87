// What each rank shows its launcher, in memory that both share.
#pragma once

#include <atomic>
#include <cstdint>

namespace cleave::launch {

struct RankSlot {
  static constexpr size_t kMessageBytes = 2000;
  std::atomic<int64_t> step;      // the one it is in; -1 before the first
  std::atomic<int64_t> stepBegan; // nanoseconds of the steady clock; 0 before the first
  std::atomic<int64_t> failedAt;  // likewise; 0: has not failed
  int32_t kind;                   // of the failed Status
  char message[kMessageBytes];
};

} // namespace cleave::launch
