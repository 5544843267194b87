#include "compiler/schedule/Live.h"

#include <algorithm>
#include <limits>

namespace cleave::schedule {
namespace {

struct Change {
  double seconds;
  uint32_t space;
  uint64_t bytes; // added; wraps round below zero, the sums do not
};

// When each buffer is live; begin > end: never.
std::vector<Interval> lifetimes(const Timeline &timeline, const Clock &clock) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<Interval> result(timeline.buffers.size(), {kInfinity, -kInfinity});
  for (const Access &access : timeline.accesses) {
    Interval &lifetime = result[access.buffer];
    lifetime.begin = std::min(lifetime.begin, clock.begins[access.task]);
    lifetime.end = std::max(lifetime.end, clock.ends[access.task]);
  }
  for (size_t b = 0; b < result.size(); ++b)
    if (timeline.buffers[b].isPersistent)
      result[b] = {0, kInfinity};
  return result;
}

// The live bytes of one space, whose changes are `order`, sorted by time.
LiveBytes levelsOf(std::span<const uint32_t> order, const std::vector<Change> &changes) {
  LiveBytes live;
  live.levels.push_back({});
  uint64_t bytes = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    bytes += changes[order[i]].bytes;
    const double seconds = changes[order[i]].seconds;
    if (i + 1 < order.size() && changes[order[i + 1]].seconds == seconds)
      continue; // all changes of one moment are one
    if (live.levels.back().seconds == seconds)
      live.levels.back().bytes = bytes;
    else if (live.levels.back().bytes != bytes)
      live.levels.push_back({seconds, bytes});
    if (bytes > live.peak) {
      live.peak = bytes;
      live.peakSeconds = seconds;
    }
  }
  return live;
}

} // namespace

std::vector<LiveBytes> liveBytes(const Timeline &timeline, const Clock &clock) {
  std::vector<Change> changes;
  const std::vector<Interval> lives = lifetimes(timeline, clock);
  for (size_t b = 0; b < lives.size(); ++b) {
    if (!(lives[b].begin < lives[b].end))
      continue;
    const Buffer &buffer = timeline.buffers[b];
    changes.push_back({lives[b].begin, buffer.space, buffer.bytes});
    if (!buffer.isPersistent)
      changes.push_back({lives[b].end, buffer.space, ~buffer.bytes + 1});
  }
  std::sort(changes.begin(), changes.end(),
            [](const Change &a, const Change &b) { return a.seconds < b.seconds; });
  const Groups ofSpace(timeline.spaces.size(), changes.size(),
                       [&](size_t i) { return changes[i].space; });
  std::vector<LiveBytes> result;
  for (size_t space = 0; space < timeline.spaces.size(); ++space)
    result.push_back(levelsOf(ofSpace[space], changes));
  return result;
}

} // namespace cleave::schedule
