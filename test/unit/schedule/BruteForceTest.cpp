// The simulation against an event loop on random timelines. Seconds are small whole numbers, so
// that what happens in each second can be counted.
#include "compiler/schedule/Simulate.h"
#include "test/unit/schedule/EventLoop.h"
#include "test/unit/schedule/TimelineBuilder.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

using namespace cleave;
using namespace cleave::schedule;

namespace {

class RandomTimeline {
public:
  explicit RandomTimeline(unsigned seed) : random_(seed) {}

  Timeline make() {
    addResources();
    for (uint32_t events = upTo(20) + 1; events > 0; --events)
      if (upTo(4) == 0)
        addMeeting();
      else
        addTask(upTo(count(b_.timeline.resources)), kNone);
    addBuffers();
    if (upTo(3) == 0)
      disorder();
    return b_.timeline;
  }

private:
  uint32_t upTo(uint32_t end) { return random_() % end; } // below `end`
  template <typename List> static uint32_t count(const List &list) { return uint32_t(list.size()); }

  void addResources() {
    ranks_ = upTo(4) + 1;
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      firstOfRank_.push_back(b_.resource(ResourceKind::Compute, rank));
      for (uint32_t more = upTo(4); more > 0; --more)
        b_.resource(
            std::array{ResourceKind::Link, ResourceKind::HostLink, ResourceKind::Disk}[upTo(3)],
            rank, upTo(2));
      b_.space(SpaceKind::Device, rank);
      b_.space(SpaceKind::Host, rank);
    }
    firstOfRank_.push_back(count(b_.timeline.resources));
  }

  void addTask(uint32_t resource, uint32_t meeting) {
    std::vector<uint32_t> after;
    for (uint32_t edges = upTo(3); edges > 0 && count(b_.timeline.tasks) > 0; --edges)
      after.push_back(upTo(count(b_.timeline.tasks)));
    if (meeting != kNone) // not of a member of the same meeting
      std::erase_if(after, [&](uint32_t t) { return b_.timeline.tasks[t].meeting == meeting; });
    b_.task("t" + std::to_string(count(b_.timeline.tasks)), resource, upTo(5), after, meeting);
    for (size_t i = 1; i <= after.size(); ++i)
      if (upTo(3) == 0)
        b_.timeline.dependencies.end()[-static_cast<ptrdiff_t>(i)].delay = upTo(4);
  }

  // Adds a task to one resource of each rank, from a random rank on.
  void addMeeting() {
    const uint32_t first = upTo(ranks_), meeting = b_.meeting(ranks_ - first);
    for (uint32_t rank = first; rank < ranks_; ++rank)
      addTask(firstOfRank_[rank] + upTo(firstOfRank_[rank + 1] - firstOfRank_[rank]), meeting);
  }

  void addBuffers() {
    for (uint32_t buffers = upTo(8); buffers > 0; --buffers) {
      std::vector<uint32_t> tasks;
      for (uint32_t accesses = upTo(4); accesses > 0; --accesses)
        tasks.push_back(upTo(count(b_.timeline.tasks)));
      const uint32_t buffer = b_.buffer(upTo(count(b_.timeline.spaces)), upTo(100), tasks);
      b_.timeline.buffers[buffer].isPersistent = upTo(5) == 0;
    }
  }

  // Exchanges the places of tasks, which may make a deadlock.
  void disorder() {
    std::vector<Task> &tasks = b_.timeline.tasks;
    for (uint32_t times = upTo(3) + 1; times > 0; --times)
      std::swap(tasks[upTo(count(tasks))], tasks[upTo(count(tasks))]);
  }

  std::mt19937 random_;
  TimelineBuilder b_;
  uint32_t ranks_ = 0;
  std::vector<uint32_t> firstOfRank_; // resources, and their number
};

bool isIn(double second, const Interval &interval) {
  return interval.begin <= second && second < interval.end;
}

// Whether the resource runs a task in the second that begins at `second`.
bool runs(const Timeline &t, const EventLoopResult &expected, uint32_t resource, double second) {
  for (size_t task = 0; task < t.tasks.size(); ++task)
    if (t.tasks[task].resource == resource &&
        isIn(second, {expected.begins[task], expected.ends[task]}))
      return true;
  return false;
}

void checkResource(const Timeline &t, const EventLoopResult &expected, const Simulation &found,
                   uint32_t resource) {
  double busy = 0, exposed = 0;
  for (double second = 0; second < expected.seconds; ++second) {
    bool computes = false;
    for (uint32_t other = 0; other < t.resources.size(); ++other)
      computes |= t.resources[other].rank == t.resources[resource].rank &&
                  t.resources[other].kind == ResourceKind::Compute &&
                  runs(t, expected, other, second);
    const bool works = runs(t, expected, resource, second);
    busy += works;
    exposed += works && !computes;
    const std::vector<Interval> &intervals = found.exposed[resource];
    CHECK((works && !computes) ==
          std::any_of(intervals.begin(), intervals.end(),
                      [&](const Interval &interval) { return isIn(second, interval); }));
  }
  CHECK(found.busySeconds[resource] == busy);
  CHECK(found.exposedSeconds[resource] == exposed);
}

uint64_t liveAt(const Timeline &t, const EventLoopResult &expected, uint32_t space, double second) {
  uint64_t bytes = 0;
  for (uint32_t b = 0; b < t.buffers.size(); ++b) {
    bool hasBegun = false, isOver = true;
    for (const Access &access : t.accesses)
      if (access.buffer == b) {
        hasBegun |= expected.begins[access.task] <= second;
        isOver &= expected.ends[access.task] <= second;
      }
    if (t.buffers[b].space == space && (t.buffers[b].isPersistent || (hasBegun && !isOver)))
      bytes += t.buffers[b].bytes;
  }
  return bytes;
}

void checkSpace(const Timeline &t, const EventLoopResult &expected, const LiveBytes &found,
                uint32_t space) {
  uint64_t peak = 0;
  double peakSeconds = 0;
  for (double second = 0; second < expected.seconds; ++second) {
    const uint64_t bytes = liveAt(t, expected, space, second);
    const LiveLevel *level = nullptr;
    for (const LiveLevel &candidate : found.levels)
      if (candidate.seconds <= second)
        level = &candidate;
    REQUIRE(level);
    CHECK(level->bytes == bytes);
    if (bytes > peak) {
      peak = bytes;
      peakSeconds = second;
    }
  }
  if (expected.seconds > 0) {
    CHECK(found.peak == peak);
    CHECK(found.peakSeconds == peakSeconds);
  }
}

// Whether the end of `before`, or a delay after it, lets `task` begin.
bool waitsFor(const Timeline &t, const EventLoopResult &expected, uint32_t task, uint32_t before) {
  for (const Dependency &dependency : t.dependencies)
    if (dependency.before == before && dependency.after == task &&
        expected.ends[before] + dependency.delay == expected.begins[task])
      return true;
  if (expected.ends[before] != expected.begins[task])
    return false;
  if (before >= task || t.tasks[before].resource != t.tasks[task].resource)
    return false;
  for (uint32_t between = before + 1; between < task; ++between)
    if (t.tasks[between].resource == t.tasks[task].resource)
      return false;
  return true;
}

// Whether `task` waits for the end of `before` or of another member of its meeting, which ends with
// it.
bool waitsForMeeting(const Timeline &t, const EventLoopResult &expected, uint32_t task,
                     uint32_t before) {
  for (uint32_t member = 0; member < t.tasks.size(); ++member)
    if (t.tasks[member].meeting != kNone && t.tasks[member].meeting == t.tasks[before].meeting &&
        waitsFor(t, expected, task, member))
      return true;
  return waitsFor(t, expected, task, before);
}

void checkPath(const Timeline &t, const EventLoopResult &expected,
               const std::vector<uint32_t> &path) {
  REQUIRE_FALSE(path.empty());
  CHECK(expected.begins[path.front()] == 0);
  CHECK(expected.ends[path.back()] == expected.seconds);
  for (size_t i = 1; i < path.size(); ++i)
    CHECK(waitsForMeeting(t, expected, path[i], path[i - 1]));
}

void checkAgainst(const Timeline &t, const EventLoopResult &expected, const Simulation &found) {
  CHECK(found.seconds == expected.seconds);
  CHECK(found.begins == expected.begins);
  CHECK(found.ends == expected.ends);
  for (uint32_t resource = 0; resource < t.resources.size(); ++resource)
    checkResource(t, expected, found, resource);
  for (uint32_t space = 0; space < t.spaces.size(); ++space)
    checkSpace(t, expected, found.live[space], space);
  checkPath(t, expected, found.criticalPath);
}

// The number of the first task of a message `deadlock: 't7' (task 12: …`.
size_t firstNamed(const std::string &message) {
  const std::string mark = "(task ";
  return std::stoul(message.substr(message.find(mark) + mark.size()));
}

} // namespace

TEST_CASE("2,000 random timelines run as in an event loop") {
  int ended = 0, deadlocks = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    const Timeline timeline = RandomTimeline(seed).make();
    const EventLoopResult expected = runEventLoop(timeline);
    const Result<Simulation> found = simulate(timeline);
    INFO("seed " << seed << ": " << found.status().message());
    const auto never = std::count(expected.hasEnded.begin(), expected.hasEnded.end(), false);
    REQUIRE(found.isOk() == (never == 0));
    if (found) {
      checkAgainst(timeline, expected, *found);
      ++ended;
    } else {
      CHECK_FALSE(expected.hasEnded[firstNamed(found.status().message())]);
      ++deadlocks;
    }
  }
  CHECK(ended > 1500);
  CHECK(deadlocks > 100);
}
