// Simulate: the seconds and bytes of a timeline, by the rules of execution in Timeline.h. Every
// statement about the seconds of a step comes from here.
#pragma once

#include "compiler/schedule/Timeline.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <vector>

namespace cleave::schedule {

// The seconds from `begin` up to `end`, without `end`.
struct Interval {
  double begin = 0, end = 0;
  bool operator==(const Interval &) const = default;
};

// `bytes` are live from `seconds` on, up to the next level.
struct LiveLevel {
  double seconds = 0;
  uint64_t bytes = 0;
  bool operator==(const LiveLevel &) const = default;
};

// The live bytes of one space. A buffer is live in the interval from its first begin to its last
// end, so one that only tasks of 0 seconds access never counts.
struct LiveBytes {
  std::vector<LiveLevel> levels; // times rise, and neighbours differ; the first begins at 0
  uint64_t peak = 0;
  double peakSeconds = 0; // the first moment of the peak
};

struct Simulation {
  double seconds = 0;               // makespan: the end of the last task
  std::vector<double> begins, ends; // by task, in seconds since the step started
  std::vector<double> busySeconds;  // by resource: the sum of its tasks, waiting excluded
  // By resource: when it runs a task while the compute resource of its rank runs none. Empty for
  // compute resources themselves. Intervals do not touch.
  std::vector<std::vector<Interval>> exposed;
  std::vector<double> exposedSeconds; // by resource: the length of `exposed`
  std::vector<LiveBytes> live;        // by space
  // Tasks from second 0 to the makespan. Each begins when the one before it ends, because it waited
  // for that task or for another member of its meeting: on its resource or as a dependency, whose
  // delay then lies between them. A meeting is represented by the member that was ready last. Ties
  // go to the lower index.
  std::vector<uint32_t> criticalPath;
  uint64_t visits = 0; // of tasks and dependencies: the work that the simulation took
};

// Runs the timeline; linear in its size but for sorting buffers by time. A user error that names
// tasks if the timeline cannot end (a cycle of waits, a SEND without its RECV, a collective that
// a rank leaves out), or if an index or a number of seconds is not valid.
Result<Simulation> simulate(const Timeline &timeline);

} // namespace cleave::schedule
