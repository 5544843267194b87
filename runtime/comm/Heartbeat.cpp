// See Heartbeat.h.
#include "runtime/comm/Heartbeat.h"

#include <pthread.h>

namespace cleave::comm {

Heartbeat::Heartbeat(std::chrono::milliseconds period, std::function<void(uint64_t)> report)
    : period_(period), report_(std::move(report)) {
  pthread_getcpuclockid(pthread_self(), &clock_);
  thread_ = std::thread([this] { run(); });
}

Heartbeat::~Heartbeat() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  thread_.join();
}

uint64_t Heartbeat::cpuTime() const {
  timespec time{};
  clock_gettime(clock_, &time);
  return uint64_t(time.tv_sec) * 1'000'000'000 + uint64_t(time.tv_nsec);
}

void Heartbeat::run() {
  std::unique_lock lock(mutex_);
  while (!stop_.wait_for(lock, period_, [this] { return stopping_; }))
    report_(cpuTime());
}

} // namespace cleave::comm
