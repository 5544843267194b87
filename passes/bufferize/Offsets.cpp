// Greedy placement by size, by size times duration, and by duration; then a search.
#include "passes/bufferize/Offsets.h"

#include "passes/bufferize/EjectionSearch.h"
#include "passes/bufferize/FirstFit.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

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

int64_t endOf(const std::vector<Lifetime> &lifetimes, const std::vector<int64_t> &offsets) {
  int64_t end = 0;
  for (size_t i = 0; i < lifetimes.size(); ++i)
    end = std::max(end, offsets[i] + aligned(lifetimes[i].bytes));
  return end;
}

} // namespace

// The largest power of two, at most a page, that divides all sizes. The search may place buffers at
// the end of an arena, so the size of the arena must be a multiple of it.
static int64_t commonAlignment(const std::vector<Lifetime> &lifetimes) {
  int64_t alignment = 4096;
  for (const Lifetime &life : lifetimes)
    alignment = std::gcd(alignment, aligned(life.bytes));
  return alignment;
}

// Looks for a placement in `least` bytes, and if there is none, in a little more.
static void tighten(const std::vector<Lifetime> &lifetimes, int64_t least, Placement &best) {
  constexpr int64_t kWork = 64'000'000, kFewer = 32; // as placeWithin counts it
  auto fits = [&](int64_t bytes, int64_t work) {
    std::optional<std::vector<int64_t>> offsets = placeWithin(bytes, lifetimes, work);
    if (!offsets)
      return false;
    best.bytes = endOf(lifetimes, *offsets); // perhaps fewer
    best.offsets = std::move(*offsets);
    return true;
  };
  if (fits(least, kWork))
    return;
  const int64_t alignment = commonAlignment(lifetimes);
  for (int64_t tooFew = least; best.bytes - tooFew > std::max(alignment, least >> 10);)
    if (const int64_t middle = alignedTo(alignment, (tooFew + best.bytes) / 2);
        !fits(middle, kWork / kFewer))
      tooFew = middle;
}

static double duration(const Lifetime &life) {
  return static_cast<double>(life.last - life.first + 1);
}
static double size(const Lifetime &life) { return static_cast<double>(life.bytes); }
static double area(const Lifetime &life) { return size(life) * duration(life); }
static constexpr double (*kKeys[])(const Lifetime &) = {size, area, duration};

Placement placeBuffers(const std::vector<Lifetime> &lifetimes, std::optional<int64_t> room) {
  const int64_t peak = peakOf(lifetimes); // no placement takes less
  const int64_t wanted = room ? std::max(peak, *room - *room % commonAlignment(lifetimes)) : peak;
  Placement best{.bytes = std::numeric_limits<int64_t>::max(), .peak = peak};
  for (const auto &key : kKeys) {
    std::vector<int64_t> offsets = placeInOrder(lifetimes, fallingOrder(lifetimes, key));
    const int64_t bytes = endOf(lifetimes, offsets);
    if (bytes < best.bytes) {
      best.bytes = bytes;
      best.offsets = std::move(offsets);
    }
    if (best.bytes <= wanted)
      return best;
  }
  if (!room || peak <= *room)
    tighten(lifetimes, wanted, best);
  return best;
}

Placement placeAround(const std::vector<Lifetime> &placed, const std::vector<int64_t> &offsets,
                      const std::vector<Lifetime> &added) {
  std::vector<Lifetime> all = placed;
  all.insert(all.end(), added.begin(), added.end());
  const int64_t end = endOf(placed, offsets);
  Placement best{.bytes = std::numeric_limits<int64_t>::max(), .peak = peakOf(all)};
  for (const auto &key : kKeys) {
    std::vector<int64_t> tried = placeInOrder(added, fallingOrder(added, key), placed, offsets);
    const int64_t bytes = std::max(end, endOf(added, tried));
    if (bytes < best.bytes) {
      best.bytes = bytes;
      best.offsets = std::move(tried);
    }
  }
  return best;
}

} // namespace cleave::bufferize
