#include "test/unit/schedule/EventLoop.h"

#include <limits>

namespace cleave::schedule {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

struct EventLoop {
  const Timeline &timeline;
  EventLoopResult result;
  std::vector<bool> hasStarted;
  double now = 0;

  bool mayStartAlone(size_t task) const {
    if (hasStarted[task])
      return false;
    for (size_t other = 0; other < task; ++other)
      if (timeline.tasks[other].resource == timeline.tasks[task].resource &&
          !result.hasEnded[other])
        return false;
    for (const Dependency &dependency : timeline.dependencies)
      if (dependency.after == task && (!result.hasEnded[dependency.before] ||
                                       now < result.ends[dependency.before] + dependency.delay))
        return false;
    return true;
  }

  bool startIfPossible(size_t task) {
    double seconds = timeline.tasks[task].seconds;
    std::vector<size_t> together;
    for (size_t other = 0; other < timeline.tasks.size(); ++other) {
      const uint32_t meeting = timeline.tasks[task].meeting;
      if (other != task && (meeting == kNone || timeline.tasks[other].meeting != meeting))
        continue;
      if (!mayStartAlone(other))
        return false;
      together.push_back(other);
      if (timeline.tasks[other].seconds > seconds)
        seconds = timeline.tasks[other].seconds;
    }
    for (size_t other : together) {
      hasStarted[other] = true;
      result.begins[other] = now;
      result.ends[other] = now + seconds;
    }
    return true;
  }

  bool startAndEndWhatMay() {
    bool isChanged = false;
    for (size_t task = 0; task < timeline.tasks.size(); ++task)
      if (hasStarted[task] && !result.hasEnded[task] && result.ends[task] == now) {
        result.hasEnded[task] = true;
        isChanged = true;
      }
    for (size_t task = 0; task < timeline.tasks.size(); ++task)
      isChanged |= startIfPossible(task);
    return isChanged;
  }

  // The next moment at which a task or a delay ends.
  double nextEnd() const {
    double next = kNever;
    for (size_t task = 0; task < timeline.tasks.size(); ++task)
      if (hasStarted[task] && !result.hasEnded[task] && result.ends[task] < next)
        next = result.ends[task];
    for (const Dependency &dependency : timeline.dependencies) {
      const double end = result.ends[dependency.before] + dependency.delay;
      if (result.hasEnded[dependency.before] && now < end && end < next)
        next = end;
    }
    return next;
  }
};

} // namespace

EventLoopResult runEventLoop(const Timeline &timeline) {
  EventLoop loop{timeline, {}, {}};
  loop.hasStarted.resize(timeline.tasks.size());
  loop.result.hasEnded.resize(timeline.tasks.size());
  loop.result.begins.resize(timeline.tasks.size());
  loop.result.ends.resize(timeline.tasks.size());
  for (; loop.now < kNever; loop.now = loop.nextEnd()) {
    while (loop.startAndEndWhatMay()) {
    }
    loop.result.seconds = loop.now;
  }
  return loop.result;
}

} // namespace cleave::schedule
