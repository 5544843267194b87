// A search for a free offset passes whole blocks of buffers.
#include "passes/bufferize/FirstFit.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>

namespace cleave::bufferize {

namespace {

struct Placed {
  int64_t offset, end, first, last;

  bool isAliveIn(const Lifetime &life) const { return first <= life.last && last >= life.first; }
  bool operator<(const Placed &other) const {
    return std::tie(offset, first) < std::tie(other.offset, other.first);
  }
};

// Buffers with neighbouring offsets. A search passes the block in one step if all of them are alive
// and no gap between them is wide enough, or if none is alive.
class Group {
public:
  explicit Group(std::vector<Placed> placed) : placed_(std::move(placed)) { summarise(); }

  void add(const Placed &mine) {
    placed_.insert(std::upper_bound(placed_.begin(), placed_.end(), mine), mine);
    summarise();
  }
  // Keeps the first half of the buffers and returns the others.
  Group split() {
    auto middle = placed_.begin() + static_cast<std::ptrdiff_t>(placed_.size() / 2);
    Group others(std::vector<Placed>(middle, placed_.end()));
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
    for (const Group &block : blocks_)
      if (block.pass(life, bytes, offset))
        break;
    return offset;
  }

  void take(const Placed &placed) {
    if (blocks_.empty())
      return blocks_.push_back(Group({placed}));
    auto behind = std::upper_bound(
        blocks_.begin(), blocks_.end(), placed,
        [](const Placed &mine, const Group &block) { return mine < block.front(); });
    auto block = behind == blocks_.begin() ? behind : std::prev(behind);
    block->add(placed);
    if (block->size() > kLargestBlock)
      blocks_.insert(std::next(block), block->split());
  }

private:
  static constexpr size_t kLargestBlock = 256;
  std::vector<Group> blocks_;
};

} // namespace

std::vector<size_t> fallingOrder(const std::vector<Lifetime> &lifetimes,
                                 const std::function<double(const Lifetime &)> &key) {
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return key(lifetimes[a]) > key(lifetimes[b]); });
  return order;
}

std::vector<int64_t> placeInOrder(const std::vector<Lifetime> &lifetimes,
                                  const std::vector<size_t> &order,
                                  const std::vector<Lifetime> &placed,
                                  const std::vector<int64_t> &placedAt) {
  std::vector<int64_t> offsets(lifetimes.size(), 0);
  TakenBytes taken;
  for (size_t i = 0; i < placed.size(); ++i)
    taken.take(
        {placedAt[i], placedAt[i] + aligned(placed[i].bytes), placed[i].first, placed[i].last});
  for (size_t i : order) {
    const int64_t bytes = aligned(lifetimes[i].bytes);
    offsets[i] = taken.find(lifetimes[i], bytes);
    taken.take({offsets[i], offsets[i] + bytes, lifetimes[i].first, lifetimes[i].last});
  }
  return offsets;
}

} // namespace cleave::bufferize
