// Buffers with a place are kept in two orders, so that one pass finds the best offset of a buffer.
#include "passes/bufferize/EjectionSearch.h"

#include "passes/bufferize/FirstFit.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <random>

namespace cleave::bufferize {

namespace {

// How hard buffers of these bytes are to place, the unit of their weights. Weights are integers, so
// that equal ones are equal on all machines.
int64_t effortOf(int64_t bytes) { return std::bit_width(static_cast<uint64_t>(bytes) / 8); }
constexpr int64_t kUnit = 8;

int64_t durationOf(const Lifetime &life) { return life.last - life.first + 1; }

// Buffers without a place, in a list. A tree over the places in the list finds the first of those
// that are the hardest to place.
class WaitingBuffers {
public:
  // `most`: how many there can be.
  explicit WaitingBuffers(size_t most)
      : leaves_(std::bit_ceil(std::max<size_t>(most, 1))), hardest_(2 * leaves_, -1) {}

  bool empty() const { return list_.empty(); }
  size_t size() const { return list_.size(); }
  int buffer(size_t i) const { return list_[i].buffer; }

  // The hardness of a buffer does not change while it waits.
  void add(int buffer, double hardness) {
    list_.push_back({hardness, buffer});
    update(list_.size() - 1);
  }

  // Removes the hardest one; the last of the list takes its place there.
  int take() {
    const size_t place = static_cast<size_t>(hardest_[1]);
    const int buffer = list_[place].buffer;
    list_[place] = list_.back();
    list_.pop_back();
    update(list_.size());
    update(place);
    return buffer;
  }

private:
  struct Waiting {
    double hardness;
    int buffer;
  };

  void update(size_t place) {
    size_t node = leaves_ + place;
    hardest_[node] = place < list_.size() ? static_cast<int>(place) : -1;
    for (node /= 2; node > 0; node /= 2)
      hardest_[node] = harder(hardest_[2 * node], hardest_[2 * node + 1]);
  }
  int harder(int a, int b) const {
    if (a < 0 || b < 0)
      return std::max(a, b);
    return list_[a].hardness < list_[b].hardness ? b : a;
  }

  std::vector<Waiting> list_;
  size_t leaves_;
  std::vector<int> hardest_; // per node of the tree a place in the list; -1: it is empty there
};

// One attempt.
class EjectionSearch {
public:
  EjectionSearch(int64_t bytes, const std::vector<Lifetime> &lifetimes, unsigned seed)
      : bytes_(bytes), random_(seed), waiting_(lifetimes.size()) {
    int64_t durations = 0;
    for (const Lifetime &life : lifetimes)
      durations += durationOf(life);
    const int64_t average =
        std::max<int64_t>(1, durations / static_cast<int64_t>(lifetimes.size() + 1));
    for (const Lifetime &life : lifetimes)
      buffers_.push_back({life.bytes, life.first, life.last,
                          effortOf(life.bytes) * (kUnit + kUnit * durationOf(life) / average)});
    placeHardestFirst(lifetimes);
  }

  // Whether all buffers have a place after so many moves more than are needed at least. Ends as
  // soon as more buffers wait than moves are left: a move gives a place to one.
  bool run(int64_t moves) {
    const size_t most = waiting_.size() + static_cast<size_t>(moves);
    for (size_t made = 0; !waiting_.empty() && made + waiting_.size() <= most; ++made)
      place(waiting_.take());
    return waiting_.empty();
  }

  const std::vector<int64_t> &offsets() const { return offsets_; }

private:
  struct Buffer {
    int64_t bytes, first, last, weight;
  };
  // The begin or the end of a buffer that has a place. With its life, so that passing all of them
  // reads memory in order.
  struct Edge {
    int64_t at, first, last;
    int buffer;

    bool operator<(const Edge &other) const {
      return std::pair(at, buffer) < std::pair(other.at, other.buffer);
    }
  };
  Edge edgeOf(int i, int64_t at) const { return {at, buffers_[i].first, buffers_[i].last, i}; }

  // Where buffers begin or end, in rising order, and their weights.
  using Weights = std::vector<std::pair<int64_t, int64_t>>;
  // Of offsets that are tried in rising order, one where the least weight is in the way of `bytes`.
  class Lightest {
  public:
    Lightest(const Weights &begins, const Weights &ends, int64_t bytes, std::minstd_rand &random)
        : begin_(begins.begin()), lastBegin_(begins.end()), end_(ends.begin()),
          lastEnd_(ends.end()), bytes_(bytes), random_(random) {}

    // Whether nothing is in the way there.
    bool isFree(int64_t offset) {
      for (; begin_ != lastBegin_ && begin_->first < offset + bytes_; ++begin_)
        weight_ += begin_->second;
      for (; end_ != lastEnd_ && end_->first <= offset; ++end_)
        weight_ -= end_->second;
      if (weight_ == 0)
        return true;
      if (weight_ < least_)
        equal_ = 0;
      if (weight_ <= least_ && random_() % ++equal_ == 0)
        best_ = offset;
      least_ = std::min(least_, weight_);
      return false;
    }
    int64_t best() const { return best_; }

  private:
    Weights::const_iterator begin_, lastBegin_, end_, lastEnd_;
    const int64_t bytes_;
    std::minstd_rand &random_;
    int64_t weight_ = 0, least_ = std::numeric_limits<int64_t>::max(), best_ = 0;
    unsigned equal_ = 0; // how many of the least weight there were
  };

  // Until one does not fit.
  void placeHardestFirst(const std::vector<Lifetime> &lifetimes) {
    std::vector<size_t> order(buffers_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return hardness(static_cast<int>(a)) > hardness(static_cast<int>(b));
    });
    offsets_ = placeInOrder(lifetimes, order);
    for (size_t i : order) {
      const int buffer = static_cast<int>(i);
      if (!waiting_.empty() || endOf(buffer) > bytes_) {
        wait(buffer);
        continue;
      }
      byBegin_.push_back(edgeOf(buffer, offsets_[buffer]));
      byEnd_.push_back(edgeOf(buffer, endOf(buffer)));
    }
    std::sort(byBegin_.begin(), byBegin_.end());
    std::sort(byEnd_.begin(), byEnd_.end());
  }

  int64_t endOf(int i) const { return offsets_[i] + buffers_[i].bytes; }

  double hardness(int i) const {
    return static_cast<double>(buffers_[i].weight) * static_cast<double>(buffers_[i].bytes);
  }

  void wait(int buffer) { waiting_.add(buffer, hardness(buffer)); }

  void place(int buffer) {
    const int64_t offset = bestOffset(buffer), end = offset + buffers_[buffer].bytes;
    const size_t before = waiting_.size();
    for (const Edge &other : byBegin_) {
      if (other.at >= end)
        break;
      if (meets(other, buffers_[buffer]) && endOf(other.buffer) > offset)
        wait(other.buffer);
    }
    if (waiting_.size() > before)
      buffers_[buffer].weight += effortOf(buffers_[buffer].bytes) * kUnit;
    for (size_t i = before; i < waiting_.size(); ++i)
      erase(waiting_.buffer(i));
    offsets_[buffer] = offset;
    insert(buffer);
  }

  // Of the offsets next to another buffer or to an end of the arena, one where the least weight is
  // in the way. Both lists are passed once, since the offsets are tried in rising order.
  int64_t bestOffset(int buffer) {
    const int64_t bytes = buffers_[buffer].bytes;
    findMet(byBegin_, buffers_[buffer], begins_);
    findMet(byEnd_, buffers_[buffer], ends_);
    Lightest lightest(begins_, ends_, bytes, random_);
    if (lightest.isFree(0))
      return 0;
    // In rising order, as both lists are.
    auto begin = begins_.begin();
    auto end = ends_.begin();
    for (; begin != begins_.end() && begin->first < bytes; ++begin) {
    }
    while (begin != begins_.end() || (end != ends_.end() && end->first + bytes <= bytes_)) {
      const int64_t before = begin != begins_.end() ? begin->first - bytes : bytes_;
      const int64_t behind = end != ends_.end() ? end->first : bytes_;
      const int64_t offset = std::min(before, behind);
      if (lightest.isFree(offset))
        return offset;
      ++(before <= behind ? begin : end);
    }
    return lightest.isFree(bytes_ - bytes) ? bytes_ - bytes : lightest.best();
  }

  // The edges of buffers that are alive at the same time, with weights.
  void findMet(const std::vector<Edge> &edges, const Buffer &buffer, Weights &met) const {
    met.clear();
    for (const Edge &edge : edges)
      if (meets(edge, buffer))
        met.push_back({edge.at, buffers_[edge.buffer].weight});
  }
  static bool meets(const Edge &edge, const Buffer &buffer) {
    return edge.first <= buffer.last && buffer.first <= edge.last;
  }

  void insert(int buffer) {
    insert(edgeOf(buffer, offsets_[buffer]), byBegin_);
    insert(edgeOf(buffer, endOf(buffer)), byEnd_);
  }
  void erase(int buffer) {
    erase(edgeOf(buffer, offsets_[buffer]), byBegin_);
    erase(edgeOf(buffer, endOf(buffer)), byEnd_);
  }
  static void insert(const Edge &edge, std::vector<Edge> &edges) {
    edges.insert(std::upper_bound(edges.begin(), edges.end(), edge), edge);
  }
  static void erase(const Edge &edge, std::vector<Edge> &edges) {
    edges.erase(std::lower_bound(edges.begin(), edges.end(), edge));
  }

  const int64_t bytes_;
  std::minstd_rand random_;
  std::vector<Buffer> buffers_;
  std::vector<int64_t> offsets_;
  std::vector<Edge> byBegin_, byEnd_; // of the buffers that have a place
  WaitingBuffers waiting_;            // the others
  // Of one step: ends of buffers that are alive at the same time.
  Weights begins_, ends_;
};

// Lifetimes and the bytes at every instant. Buffers of no bytes need no place.
class Timeline {
public:
  Timeline(const std::vector<Lifetime> &lifetimes, int64_t bytes)
      : lifetimes_(lifetimes), bytes_(bytes) {
    for (const Lifetime &life : lifetimes)
      end_ = std::max(end_, life.last + 1);
    used_.resize(static_cast<size_t>(end_) + 1, 0); // first the changes
    for (Lifetime &life : lifetimes_) {
      life.bytes = aligned(life.bytes);
      used_[life.first] += life.bytes;
      used_[life.last + 1] -= life.bytes;
    }
    std::partial_sum(used_.begin(), used_.end(), used_.begin());
  }

  // Lets buffers of at most `mostBytes` live all the time, the smallest first, as long as all
  // buffers together need no more than the arena: small buffers that come and go between large
  // ones break the memory up.
  void prolong(int64_t mostBytes) {
    std::vector<Lifetime *> order;
    for (Lifetime &life : lifetimes_)
      if (life.bytes <= mostBytes)
        order.push_back(&life);
    std::stable_sort(order.begin(), order.end(),
                     [](const Lifetime *a, const Lifetime *b) { return a->bytes < b->bytes; });
    for (Lifetime *life : order)
      if (canLiveAlways(*life)) {
        for (int64_t t = 0; t < end_; ++t)
          used_[t] += life->first <= t && t <= life->last ? 0 : life->bytes;
        *life = {life->bytes, 0, end_ - 1};
      }
  }

  const std::vector<Lifetime> &lifetimes() const { return lifetimes_; }
  bool isAlways(const Lifetime &life) const { return life.first == 0 && life.last + 1 == end_; }
  int64_t instants() const { return end_; }

private:
  bool canLiveAlways(const Lifetime &life) const {
    for (int64_t t = 0; t < end_; ++t)
      if ((t < life.first || t > life.last) && used_[t] + life.bytes > bytes_)
        return false;
    return true;
  }

  std::vector<Lifetime> lifetimes_;
  int64_t bytes_, end_ = 0;
  std::vector<int64_t> used_; // per instant, and none behind the last one
};

// One attempt. Buffers that live all the time lie at the begin of the arena, and so do empty ones.
std::optional<std::vector<int64_t>> attempt(const Timeline &timeline, int64_t bytes, int64_t moves,
                                            unsigned seed) {
  std::vector<int64_t> offsets;
  std::vector<Lifetime> others;
  int64_t taken = 0;
  for (const Lifetime &life : timeline.lifetimes())
    if (timeline.isAlways(life) || life.bytes == 0) {
      offsets.push_back(taken);
      taken += life.bytes;
    } else {
      offsets.push_back(-1);
      others.push_back(life);
    }
  EjectionSearch search(bytes - taken, others, seed);
  if (!search.run(moves))
    return std::nullopt;
  auto next = search.offsets().begin();
  for (int64_t &offset : offsets)
    if (offset < 0)
      offset = taken + *next++;
  return offsets;
}

} // namespace

std::optional<std::vector<int64_t>>
placeWithin(int64_t bytes, const std::vector<Lifetime> &lifetimes, int64_t work) {
  constexpr int64_t kShares[] = {1, 1 << 8, 1 << 13, 1 << 4}; // of the arena, that are prolonged
  constexpr int64_t kMoves = 2000;                            // of the first attempts
  const int64_t buffers = static_cast<int64_t>(lifetimes.size());
  for (unsigned seed = 1; work > 0; ++seed) {
    Timeline timeline(lifetimes, bytes);
    if (timeline.instants() * buffers < work)
      timeline.prolong(bytes / kShares[seed % std::size(kShares)]);
    const int64_t moves = std::min(kMoves * (1 + seed / 8), 1 + work / buffers);
    if (auto offsets = attempt(timeline, bytes, moves, seed))
      return offsets;
    work -= moves * buffers;
  }
  return std::nullopt;
}

} // namespace cleave::bufferize
