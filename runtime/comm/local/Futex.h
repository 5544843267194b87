// Waiting until another thread or process changes a word of shared memory.
#pragma once

#include "runtime/base/AwakeClock.h"

#include <atomic>
#include <chrono>
#include <climits>
#include <cstdint>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cleave::comm {

// Result of waitUntil.
enum class Waited { Ready, Gone, TimedOut };

// Wakes all threads that sleep on the word.
inline void wakeAll(std::atomic<uint32_t> &word) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

// Sleeps until the word differs from `seen` or 20 ms have passed.
inline void sleepOn(std::atomic<uint32_t> &word, uint32_t seen) {
  timespec limit{0, 20'000'000};
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAIT, seen, &limit, nullptr, 0);
}

// Returns when ready() holds; the thread that makes it hold then changes `word` and calls
// wakeAll(). Checks gone() and the timeout every 20 ms; the time in which this process is stopped
// does not count. Spins first, because most waits are short.
template <typename Ready, typename Gone>
Waited waitUntil(std::atomic<uint32_t> &word, std::chrono::milliseconds timeout, Ready ready,
                 Gone gone) {
  constexpr int kSpins = 200, kYields = 20;
  for (int i = 0; i < kSpins + kYields; ++i) {
    if (ready())
      return Waited::Ready;
    if (i < kSpins)
      __builtin_ia32_pause();
    else
      sched_yield();
  }
  AwakeClock clock;
  while (true) {
    uint32_t seen = word.load();
    if (ready())
      return Waited::Ready;
    sleepOn(word, seen);
    auto waited = clock.now();
    if (word.load() != seen)
      continue;
    bool isGone = gone();
    if (ready())
      return Waited::Ready;
    if (isGone)
      return Waited::Gone;
    if (waited >= timeout)
      return Waited::TimedOut;
  }
}

} // namespace cleave::comm
