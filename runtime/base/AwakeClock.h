// Time during which this process was running. A process that was stopped (by SIGSTOP or Ctrl-Z)
// and goes on must not conclude that others were silent in the meantime: it could not listen.
#pragma once

#include <algorithm>
#include <chrono>

namespace cleave {

// Used by one thread, which calls now() at least about twice per second.
class AwakeClock {
public:
  using Duration = std::chrono::steady_clock::duration;

  // Time since the construction. Of the time between two calls, at most one second counts.
  Duration now() {
    auto time = std::chrono::steady_clock::now();
    awake_ += std::min<Duration>(time - last_, std::chrono::seconds(1));
    last_ = time;
    return awake_;
  }

private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  Duration awake_{0};
};

} // namespace cleave
