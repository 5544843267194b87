#include "compiler/schedule/Simulate.h"

#include "compiler/schedule/Clock.h"
#include "compiler/schedule/Live.h"

#include <algorithm>

namespace cleave::schedule {
namespace {

// When a resource runs tasks: in order, and touching intervals are one.
std::vector<Interval> busyIntervals(std::span<const uint32_t> tasks, const Clock &clock) {
  std::vector<Interval> busy;
  for (uint32_t task : tasks) {
    const double begin = clock.begins[task], end = clock.ends[task];
    if (!busy.empty() && busy.back().end == begin)
      busy.back().end = end;
    else if (begin < end)
      busy.push_back({begin, end});
  }
  return busy;
}

// The seconds of `whole` outside `part`. Both are sorted, and their intervals do not touch.
std::vector<Interval> difference(const std::vector<Interval> &whole,
                                 const std::vector<Interval> &part) {
  std::vector<Interval> result;
  size_t p = 0;
  for (Interval rest : whole) {
    while (p < part.size() && part[p].end <= rest.begin)
      ++p;
    for (size_t q = p; q < part.size() && part[q].begin < rest.end; ++q) {
      if (rest.begin < part[q].begin)
        result.push_back({rest.begin, part[q].begin});
      rest.begin = std::max(rest.begin, part[q].end);
    }
    if (rest.begin < rest.end)
      result.push_back(rest);
  }
  return result;
}

// The intervals in which the compute resources of each rank run tasks.
std::vector<std::vector<Interval>> computing(const Timeline &timeline, const Waits &waits,
                                             const Clock &clock) {
  std::vector<std::vector<Interval>> ofRank;
  for (uint32_t r = 0; r < timeline.resources.size(); ++r) {
    const Resource &resource = timeline.resources[r];
    ofRank.resize(std::max<size_t>(ofRank.size(), resource.rank + size_t(1)));
    if (resource.kind == ResourceKind::Compute)
      ofRank[resource.rank] = busyIntervals(waits.ofResource[r], clock);
  }
  return ofRank;
}

void addExposed(const Timeline &timeline, const Waits &waits, const Clock &clock,
                Simulation &result) {
  const std::vector<std::vector<Interval>> computes = computing(timeline, waits, clock);
  for (uint32_t r = 0; r < timeline.resources.size(); ++r) {
    const Resource &resource = timeline.resources[r];
    std::vector<Interval> &exposed = result.exposed.emplace_back();
    if (resource.kind != ResourceKind::Compute)
      exposed = difference(busyIntervals(waits.ofResource[r], clock), computes[resource.rank]);
    double seconds = 0;
    for (const Interval &interval : exposed)
      seconds += interval.end - interval.begin;
    result.exposedSeconds.push_back(seconds);
  }
}

// A task of a meeting is busy as long as the slowest member.
void addBusy(const Timeline &timeline, const Waits &waits, Simulation &result) {
  std::vector<double> slowest(timeline.meetings.size());
  for (const Task &task : timeline.tasks)
    if (task.meeting != kNone)
      slowest[task.meeting] = std::max(slowest[task.meeting], task.seconds);
  for (size_t r = 0; r < timeline.resources.size(); ++r) {
    double &seconds = result.busySeconds.emplace_back(0);
    for (uint32_t task : waits.ofResource[r]) {
      const Task &what = timeline.tasks[task];
      seconds += what.meeting == kNone ? what.seconds : slowest[what.meeting];
    }
  }
}

} // namespace

Result<Simulation> simulate(const Timeline &timeline) {
  CLEAVE_TRY(check(timeline));
  const Waits waits(timeline);
  CLEAVE_TRY_ASSIGN(Clock clock, runClock(timeline, waits));
  Simulation result;
  result.seconds = clock.seconds;
  result.visits = clock.visits;
  addBusy(timeline, waits, result);
  addExposed(timeline, waits, clock, result);
  result.live = liveBytes(timeline, clock);
  result.criticalPath = criticalPath(timeline, waits, clock);
  result.begins = std::move(clock.begins);
  result.ends = std::move(clock.ends);
  return result;
}

} // namespace cleave::schedule
