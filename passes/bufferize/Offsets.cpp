// Greedy placement by size, by size times duration, and by duration.
#include "passes/bufferize/Offsets.h"

#include <algorithm>
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
};

Placement placeInOrder(const std::vector<Lifetime> &lifetimes, const std::vector<size_t> &order) {
  Placement placement;
  placement.offsets.assign(lifetimes.size(), 0);
  std::vector<Placed> placed; // by offset
  for (size_t i : order) {
    const Lifetime &life = lifetimes[i];
    int64_t bytes = aligned(life.bytes), offset = 0;
    for (const Placed &other : placed) {
      if (other.last < life.first || other.first > life.last)
        continue;
      if (other.offset >= offset + bytes)
        break;
      offset = std::max(offset, other.end);
    }
    placement.offsets[i] = offset;
    placement.bytes = std::max(placement.bytes, offset + bytes);
    Placed mine{offset, offset + bytes, life.first, life.last};
    placed.insert(
        std::upper_bound(placed.begin(), placed.end(), mine,
                         [](const Placed &a, const Placed &b) { return a.offset < b.offset; }),
        mine);
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
