// Clock: when each task of a timeline begins and ends, and the tasks that decide the makespan.
#pragma once

#include "compiler/schedule/Waits.h"

#include <cstdint>
#include <vector>

namespace cleave::schedule {

struct Clock {
  std::vector<double> begins, ends; // by task, in seconds
  double seconds = 0;               // the last end
  uint64_t visits = 0;              // of tasks and dependencies
};

// Runs a timeline that check() accepts. A user error that names the tasks of a cycle if it cannot
// end.
Result<Clock> runClock(const Timeline &timeline, const Waits &waits);

// Simulation::criticalPath.
std::vector<uint32_t> criticalPath(const Timeline &timeline, const Waits &waits,
                                   const Clock &clock);

} // namespace cleave::schedule
