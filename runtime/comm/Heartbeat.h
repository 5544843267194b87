// Tells whether a thread makes progress. The measure is the CPU time of the thread: it stands still
// while the thread is stopped, or blocked by storage or a network that does not answer, and grows
// whenever it computes or storage completes a part of its work, in whatever function it is
// (docs/decisions/0018).
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <time.h>

namespace cleave::comm {

class Heartbeat {
public:
  // Watches the calling thread, which outlives this object. Calls `report` with the thread's CPU
  // time in nanoseconds, every `period` and in a thread of its own.
  Heartbeat(std::chrono::milliseconds period, std::function<void(uint64_t)> report);
  ~Heartbeat();
  Heartbeat(const Heartbeat &) = delete;

  // The CPU time of the watched thread in nanoseconds.
  uint64_t cpuTime() const;

private:
  void run();

  clockid_t clock_;
  std::chrono::milliseconds period_;
  std::function<void(uint64_t)> report_;
  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;
  std::thread thread_;
};

} // namespace cleave::comm
