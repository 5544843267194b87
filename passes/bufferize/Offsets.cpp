// Greedy placement by size, by size times duration, and by duration.
#include "passes/bufferize/Offsets.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <tuple>

namespace cleave::bufferize {

namespace {

int64_t peakOf(const std::vector<Lifetime> &lifetimes) {
  std::vector<std::pair<int64_t, int64_t>> changes; // position, bytes
  for (const Lifetime &life : lifetimes) {
    changes.push_back({life.first, aligned(life.bytes)});
    changes.push_back({life.last + 1, -aligned(life.bytes)});
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
  bool operator<(const Placed &other) const {
    return std::tie(offset, first) < std::tie(other.offset, other.first);
  }
};

// Buffers with neighbouring offsets. A search passes the block in one step if all of them are alive
// and no gap between them is wide enough, or if none is alive.
class Block {
public:
  explicit Block(std::vector<Placed> placed) : placed_(std::move(placed)) { summarise(); }

  void add(const Placed &mine) {
    placed_.insert(std::upper_bound(placed_.begin(), placed_.end(), mine), mine);
    summarise();
  }
  // Keeps the first half of the buffers and returns the others.
  Block split() {
    auto middle = placed_.begin() + static_cast<std::ptrdiff_t>(placed_.size() / 2);
    Block others(std::vector<Placed>(middle, placed_.end()));
    placed_.erase(middle, placed_.end());
    summarise();
    return others;
  }
  const Placed &front() const { return placed_.front(); }
  size_t size() const { return placed_.size(); }

  // Moves `offset` behind the buffers that are in the way of `bytes` there. Returns true if such a
  // gap ends in this block.
  bool pass(const Lifetime &life, int64_t bytes, int64_t &offset) const {
    if (!longest_.isAliveIn(life))
      return false;
    if (widestGap_ < bytes && shortest_.isAliveIn(life))
      return passBuffer(longest_, bytes, offset);
    for (const Placed &other : placed_)
      if (other.isAliveIn(life) && passBuffer(other, bytes, offset))
        return true;
    return false;
  }

private:
  static bool passBuffer(const Placed &other, int64_t bytes, int64_t &offset) {
    if (other.offset >= offset + bytes)
      return true;
    offset = std::max(offset, other.end);
    return false;
  }
  void summarise() {
    longest_ = shortest_ = placed_.front();
    widestGap_ = 0;
    for (const Placed &one : placed_) {
      widestGap_ = std::max(widestGap_, one.offset - longest_.end);
      longest_ = {longest_.offset, std::max(longest_.end, one.end),
                  std::min(longest_.first, one.first), std::max(longest_.last, one.last)};
      shortest_.first = std::max(shortest_.first, one.first);
      shortest_.last = std::min(shortest_.last, one.last);
    }
  }

  std::vector<Placed> placed_; // by offset and first instruction
  // `longest_` covers all: where it is not alive, no buffer is. `shortest_` lives from the latest
  // first to the earliest last instruction: where it is alive, all are.
  Placed longest_, shortest_;
  int64_t widestGap_ = 0; // bytes between neighbours
};

// The bytes that are taken, in blocks by offset. Neighbours mostly live at about the same time:
// parameters as long as the program, values for the backward part one inside the other, and buffers
// of one offset one after the other.
class TakenBytes {
public:
  // The lowest offset at which `bytes` are free for the lifetime.
  int64_t find(const Lifetime &life, int64_t bytes) const {
    int64_t offset = 0;
    for (const Block &block : blocks_)
      if (block.pass(life, bytes, offset))
        break;
    return offset;
  }

  void take(const Placed &placed) {
    if (blocks_.empty())
      return blocks_.push_back(Block({placed}));
    auto behind = std::upper_bound(
        blocks_.begin(), blocks_.end(), placed,
        [](const Placed &mine, const Block &block) { return mine < block.front(); });
    auto block = behind == blocks_.begin() ? behind : std::prev(behind);
    block->add(placed);
    if (block->size() > kLargestBlock)
      blocks_.insert(std::next(block), block->split());
  }

private:
  static constexpr size_t kLargestBlock = 256;
  std::vector<Block> blocks_;
};

Placement placeInOrder(const std::vector<Lifetime> &lifetimes, const std::vector<size_t> &order) {
  Placement placement;
  placement.offsets.assign(lifetimes.size(), 0);
  TakenBytes taken;
  for (size_t i : order) {
    int64_t bytes = aligned(lifetimes[i].bytes), offset = taken.find(lifetimes[i], bytes);
    placement.offsets[i] = offset;
    placement.bytes = std::max(placement.bytes, offset + bytes);
    taken.take({offset, offset + bytes, lifetimes[i].first, lifetimes[i].last});
  }
  return placement;
}

} // namespace

// Places the buffers that reach the end of the arena before all others, again and again.
static void improve(const std::vector<Lifetime> &lifetimes, std::vector<size_t> order,
                    Placement placement, int64_t least, Placement &best) {
  constexpr size_t kMostPlacements = 100'000; // of single buffers
  for (size_t placed = 0; best.bytes > least && placed < kMostPlacements; placed += order.size()) {
    std::stable_partition(order.begin(), order.end(), [&](size_t i) {
      return placement.offsets[i] + aligned(lifetimes[i].bytes) == placement.bytes;
    });
    placement = placeInOrder(lifetimes, order);
    if (placement.bytes < best.bytes)
      best = placement;
  }
}

Placement placeBuffers(const std::vector<Lifetime> &lifetimes) {
  using Key = std::function<double(const Lifetime &)>;
  auto duration = [](const Lifetime &life) {
    return static_cast<double>(life.last - life.first + 1);
  };
  const Key keys[] = {
      [](const Lifetime &life) { return static_cast<double>(life.bytes); },
      [&](const Lifetime &life) { return static_cast<double>(life.bytes) * duration(life); },
      [&](const Lifetime &life) { return duration(life); }};
  const int64_t least = peakOf(lifetimes); // no placement takes less
  Placement best;
  std::vector<size_t> bestOrder;
  for (const Key &key : keys) {
    if (!best.offsets.empty() && best.bytes == least)
      break;
    std::vector<size_t> order(lifetimes.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return key(lifetimes[a]) > key(lifetimes[b]); });
    Placement placement = placeInOrder(lifetimes, order);
    if (!best.offsets.empty() && placement.bytes >= best.bytes)
      continue;
    best = std::move(placement);
    bestOrder = std::move(order);
  }
  if (!lifetimes.empty())
    improve(lifetimes, bestOrder, best, least, best);
  best.peak = least;
  return best;
}

} // namespace cleave::bufferize
