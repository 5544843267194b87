// A walk over the tasks in an order in which each comes after all that it waits for. A task's begin
// is a maximum of ends, so it does not depend on which such order is taken.
#include "compiler/schedule/Clock.h"

#include <algorithm>

namespace cleave::schedule {
namespace {

class Walk {
public:
  Walk(const Timeline &timeline, const Waits &waits)
      : timeline_(timeline), waits_(waits), pending_(timeline.tasks.size()),
        isReady_(timeline.tasks.size()) {
    clock_.begins.resize(timeline.tasks.size());
    clock_.ends.resize(timeline.tasks.size());
    for (const Meeting &meeting : timeline.meetings)
      absent_.push_back(meeting.size);
    for (uint32_t task = 0; task < pending_.size(); ++task)
      waits.eachBefore(task, [&](uint32_t, double) { ++pending_[task]; });
  }

  Result<Clock> run() {
    for (uint32_t task = 0; task < pending_.size(); ++task)
      if (pending_[task] == 0)
        arrive(task);
    for (size_t i = 0; i < ended_.size(); ++i)
      release(ended_[i]);
    if (ended_.size() < timeline_.tasks.size())
      return deadlock();
    clock_.visits += ended_.size();
    return std::move(clock_);
  }

private:
  // All that the task itself waits for has ended.
  void arrive(uint32_t task) {
    isReady_[task] = true;
    const uint32_t meeting = timeline_.tasks[task].meeting;
    if (meeting == kNone)
      return runTogether({&task, 1});
    if (--absent_[meeting] == 0)
      runTogether(waits_.ofMeeting[meeting]);
  }

  void runTogether(std::span<const uint32_t> tasks) {
    double begin = 0, seconds = 0;
    for (uint32_t task : tasks) {
      begin = std::max(begin, clock_.begins[task]);
      seconds = std::max(seconds, timeline_.tasks[task].seconds);
    }
    for (uint32_t task : tasks) {
      clock_.begins[task] = begin;
      clock_.ends[task] = begin + seconds;
      ended_.push_back(task);
    }
    clock_.seconds = std::max(clock_.seconds, begin + seconds);
  }

  void release(uint32_t task) {
    waits_.eachAfter(task, [&](uint32_t other, double delay) {
      ++clock_.visits;
      clock_.begins[other] = std::max(clock_.begins[other], clock_.ends[task] + delay);
      if (--pending_[other] == 0)
        arrive(other);
    });
  }

  // A task that has not ended and that `task`, which has not either, waits for.
  uint32_t blockerOf(uint32_t task) const {
    uint32_t blocker = kNone;
    if (isReady_[task]) {
      for (uint32_t member : waits_.ofMeeting[timeline_.tasks[task].meeting])
        if (!isReady_[member])
          blocker = std::min(blocker, member);
    } else {
      waits_.eachBefore(task, [&](uint32_t other, double) {
        if (!hasEnded_[other])
          blocker = std::min(blocker, other);
      });
    }
    return blocker;
  }

  Status deadlock() {
    constexpr size_t kNamed = 8; // tasks of a message
    hasEnded_.resize(timeline_.tasks.size());
    for (uint32_t task : ended_)
      hasEnded_[task] = true;
    uint32_t task =
        uint32_t(std::find(hasEnded_.begin(), hasEnded_.end(), false) - hasEnded_.begin());
    for (std::vector<bool> isSeen(hasEnded_.size()); !isSeen[task]; task = blockerOf(task))
      isSeen[task] = true;
    std::string text = concat("deadlock: ", describe(timeline_, task));
    size_t length = 0;
    for (uint32_t other = blockerOf(task);; other = blockerOf(other)) {
      if (++length < kNamed || other == task)
        text +=
            concat(length == 1 ? " waits for " : ", which waits for ", describe(timeline_, other));
      else if (length == kNamed)
        text += ", which waits for …";
      if (other == task)
        return Status::userError(text);
    }
  }

  const Timeline &timeline_;
  const Waits &waits_;
  std::vector<uint32_t> pending_; // by task: those that it waits for and that have not ended
  std::vector<uint32_t> absent_;  // by meeting: members that are not ready
  std::vector<uint32_t> ended_;   // tasks, in an order of the walk
  std::vector<bool> isReady_;  // by task: all that it waits for has ended, its meeting left aside
  std::vector<bool> hasEnded_; // by task; set for the message of a deadlock
  Clock clock_;
};

} // namespace

Result<Clock> runClock(const Timeline &timeline, const Waits &waits) {
  return Walk(timeline, waits).run();
}

namespace {

// A task whose end, or the delay after it, let `task` begin, or kNone if it began at 0; `member`
// becomes the member of its meeting that waited for it.
uint32_t cause(const Timeline &timeline, const Waits &waits, const Clock &clock, uint32_t task,
               uint32_t &member) {
  const uint32_t meeting = timeline.tasks[task].meeting;
  std::span<const uint32_t> members = {&task, 1};
  if (meeting != kNone)
    members = waits.ofMeeting[meeting];
  for (uint32_t candidate : members) {
    uint32_t found = kNone;
    waits.eachBefore(candidate, [&](uint32_t other, double delay) {
      if (clock.ends[other] + delay == clock.begins[task])
        found = std::min(found, other);
    });
    if (found != kNone) {
      member = candidate;
      return found;
    }
  }
  return kNone;
}

} // namespace

std::vector<uint32_t> criticalPath(const Timeline &timeline, const Waits &waits,
                                   const Clock &clock) {
  std::vector<uint32_t> path;
  auto last = std::find(clock.ends.begin(), clock.ends.end(), clock.seconds);
  if (last == clock.ends.end())
    return path;
  for (uint32_t task = uint32_t(last - clock.ends.begin()); task != kNone;) {
    uint32_t member = task;
    const uint32_t before = cause(timeline, waits, clock, task, member);
    path.push_back(member);
    task = before;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

} // namespace cleave::schedule
