// Greedy placement by size, by size times duration, and by duration.
#include "passes/bufferize/Offsets.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <numeric>

namespace cleave::bufferize {

namespace {

int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

int64_t peakOf(const std::vector<Lifetime> &lifetimes) {
  std::vector<std::pair<int64_t, int64_t>> changes; // position, bytes
  for (const Lifetime &life : lifetimes) {
    changes.push_back({life.first, life.bytes});
    changes.push_back({life.last + 1, -life.bytes});
  }
  std::sort(changes.begin(), changes.end()); // deaths before births at one position
  int64_t bytes = 0, peak = 0;
  for (auto [position, change] : changes)
    peak = std::max(peak, bytes += change);
  return peak;
}

struct Placed {
  int64_t offset, end, first, last;

  bool isAliveIn(const Lifetime &life) const { return first <= life.last && last >= life.first; }
};

// Placed buffers, by offset. Neighbours with one lifetime are one entry: thousands of parameters,
// which live as long as the program, are as quick to pass as one.
class PlacedList {
public:
  void add(const Placed &mine) {
    auto at = std::upper_bound(placed_.begin(), placed_.end(), mine, isBefore);
    Placed *before = at == placed_.begin() ? nullptr : &*std::prev(at);
    if (before && before->end == mine.offset && before->first == mine.first &&
        before->last == mine.last)
      before->end = mine.end;
    else
      placed_.insert(at, mine);
  }
  // Merges the entries that are alive into `out`, which is sorted by offset, too.
  void gather(const Lifetime &life, std::vector<Placed> &out) const {
    size_t middle = out.size();
    for (const Placed &other : placed_)
      if (other.isAliveIn(life))
        out.push_back(other);
    std::inplace_merge(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(middle), out.end(),
                       isBefore);
  }
  const std::vector<Placed> &all() const { return placed_; }

private:
  static bool isBefore(const Placed &a, const Placed &b) { return a.offset < b.offset; }
  std::vector<Placed> placed_;
};

// The lowest offset at which `bytes` are free for the lifetime, beside `placed`, by offset.
int64_t findFree(const std::vector<Placed> &placed, const Lifetime &life, int64_t bytes) {
  int64_t offset = 0;
  for (const Placed &other : placed) {
    if (!other.isAliveIn(life))
      continue;
    if (other.offset >= offset + bytes)
      break;
    offset = std::max(offset, other.end);
  }
  return offset;
}

// The bytes that are taken. Of thousands of buffers with short lifetimes, a search visits those
// that live at about the same time: lists by period of time have the buffers that touch few
// periods, and `long_` has the others.
class TakenBytes {
public:
  explicit TakenBytes(const std::vector<Lifetime> &lifetimes) {
    int64_t last = 0;
    for (const Lifetime &life : lifetimes)
      last = std::max(last, life.last);
    period_ = last / kPeriods + 1;
  }

  int64_t find(const Lifetime &life, int64_t bytes) const {
    if (isLong(life))
      return findFree(all_.all(), life, bytes);
    std::vector<Placed> alive;
    long_.gather(life, alive);
    for (int64_t period = life.first / period_; period <= life.last / period_; ++period)
      byPeriod_[size_t(period)].gather(life, alive);
    return findFree(alive, life, bytes);
  }

  void take(const Placed &placed) {
    all_.add(placed);
    if (isLong({0, placed.first, placed.last}))
      return long_.add(placed);
    for (int64_t period = placed.first / period_; period <= placed.last / period_; ++period)
      byPeriod_[size_t(period)].add(placed);
  }

private:
  static constexpr int64_t kPeriods = 512, kFewPeriods = 4;
  bool isLong(const Lifetime &life) const {
    return life.last / period_ - life.first / period_ >= kFewPeriods;
  }

  int64_t period_; // instructions
  PlacedList all_, long_;
  std::array<PlacedList, kPeriods> byPeriod_;
};

Placement placeInOrder(const std::vector<Lifetime> &lifetimes, const std::vector<size_t> &order) {
  Placement placement;
  placement.offsets.assign(lifetimes.size(), 0);
  TakenBytes taken(lifetimes);
  for (size_t i : order) {
    int64_t bytes = aligned(lifetimes[i].bytes), offset = taken.find(lifetimes[i], bytes);
    placement.offsets[i] = offset;
    placement.bytes = std::max(placement.bytes, offset + bytes);
    taken.take({offset, offset + bytes, lifetimes[i].first, lifetimes[i].last});
  }
  return placement;
}

} // namespace

Placement placeBuffers(const std::vector<Lifetime> &lifetimes) {
  using Key = std::function<double(const Lifetime &)>;
  auto duration = [](const Lifetime &life) {
    return static_cast<double>(life.last - life.first + 1);
  };
  const Key keys[] = {
      [](const Lifetime &life) { return static_cast<double>(life.bytes); },
      [&](const Lifetime &life) { return static_cast<double>(life.bytes) * duration(life); },
      [&](const Lifetime &life) { return duration(life); }};
  Placement best;
  for (const Key &key : keys) {
    std::vector<size_t> order(lifetimes.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return key(lifetimes[a]) > key(lifetimes[b]); });
    Placement placement = placeInOrder(lifetimes, order);
    if (best.offsets.empty() || placement.bytes < best.bytes)
      best = std::move(placement);
  }
  best.peak = peakOf(lifetimes);
  return best;
}

} // namespace cleave::bufferize
