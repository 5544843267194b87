// Shared launches: instructions that conflict keep their order, in any program.
#include "passes/bufferize/SharedLaunches.h"

#include <catch2/catch.hpp>

#include <random>
#include <set>

using namespace cleave::bufferize;

namespace {

using Runs = std::vector<std::vector<int64_t>>;

// Reads the first buffers and writes the last one.
Launchable launch(int64_t kernel, std::vector<int64_t> buffers) {
  Launchable instruction{kernel, 1, {}};
  for (int64_t buffer : buffers)
    instruction.accesses.push_back({buffer, buffer == buffers.back()});
  return instruction;
}

bool conflict(const Launchable &a, const Launchable &b) {
  for (const Launchable::Access &x : a.accesses)
    for (const Launchable::Access &y : b.accesses)
      if (x.buffer == y.buffer && (x.isWritten || y.isWritten))
        return true;
  return false;
}

// The position of each instruction's run.
std::vector<size_t> placesOf(const Runs &runs, size_t count) {
  std::vector<size_t> places(count, count);
  for (size_t run = 0; run < runs.size(); ++run)
    for (int64_t i : runs[run]) {
      REQUIRE(places[i] == count); // once
      places[i] = run;
    }
  CHECK(std::count(places.begin(), places.end(), count) == 0);
  return places;
}

} // namespace

TEST_CASE("sums share a launch once the launches that read them have moved") {
  // Two vectors: a product, which shares no launch, a sum, and an update that reads the sum.
  const std::vector<Launchable> segment = {launch(-1, {0, 1}), launch(0, {1, 2}),
                                           launch(1, {2, 3}),  launch(-1, {0, 4}),
                                           launch(0, {4, 5}),  launch(1, {5, 6})};
  CHECK(shareLaunches(segment) == Runs{{0}, {3}, {1, 4}, {2, 5}});
}

TEST_CASE("launches whose operands nothing writes run first") {
  const std::vector<Launchable> segment = {launch(-1, {9}), launch(0, {1, 2}), launch(-1, {2, 9}),
                                           launch(0, {3, 4}), launch(-1, {4, 9})};
  CHECK(shareLaunches(segment) == Runs{{1, 3}, {0}, {2}, {4}});
}

TEST_CASE("a launch is not shared with one that conflicts") {
  CHECK(shareLaunches({launch(0, {1, 2}), launch(0, {2, 3})}) == Runs{{0}, {1}});
  CHECK(shareLaunches({launch(0, {1, 2}), launch(0, {1, 3})}) == Runs{{0, 1}});
  CHECK(shareLaunches({launch(0, {1, 2}), launch(0, {3, 2})}) == Runs{{0}, {1}});
  CHECK(shareLaunches({launch(-1, {1, 2}), launch(-1, {3, 4})}) == Runs{{0}, {1}});
}

TEST_CASE("a shared launch keeps within the limits of buffers and bytes") {
  std::vector<Launchable> segment;
  for (int64_t i = 0; i < 5; ++i)
    segment.push_back(launch(0, {2 * i, 2 * i + 1}));
  CHECK(shareLaunches(segment, {.buffers = 4}) == Runs{{2, 3}, {0, 1}, {4}});
  CHECK(shareLaunches(segment, {.bytes = 3}) == Runs{{3, 4}, {0, 1, 2}});
}

TEST_CASE("a launch is shared by up to 512 buffers and 32 MiB") {
  auto largestRun = [](int64_t bytes) { // of 300 launches of two buffers
    std::vector<Launchable> segment;
    for (int64_t i = 0; i < 300; ++i) {
      segment.push_back(launch(0, {2 * i, 2 * i + 1}));
      segment.back().bytes = bytes;
    }
    size_t largest = 0;
    for (const std::vector<int64_t> &run : shareLaunches(segment))
      largest = std::max(largest, run.size());
    return largest;
  };
  CHECK(largestRun(1) == 512 / 2);
  CHECK(largestRun(1 << 20) == 32);
}

TEST_CASE("instructions that conflict keep their order, in any program") {
  std::mt19937 random(3);
  size_t shared = 0;
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<Launchable> segment;
    const int64_t buffers = 2 + random() % 40;
    for (size_t i = 0, count = 1 + random() % 60; i < count; ++i) {
      Launchable instruction{static_cast<int64_t>(random() % 4) - 1, 1, {}};
      std::set<int64_t> used;
      for (size_t k = 0, most = 1 + random() % 3; k < most; ++k)
        if (const int64_t buffer = random() % buffers; used.insert(buffer).second)
          instruction.accesses.push_back({buffer, random() % 3 == 0});
      segment.push_back(std::move(instruction));
    }
    const int64_t most = 2 + random() % 12;
    const Runs runs = shareLaunches(segment, {.buffers = most});
    const std::vector<size_t> places = placesOf(runs, segment.size());
    for (size_t b = 0; b < segment.size(); ++b)
      for (size_t a = 0; a < b; ++a)
        if (conflict(segment[a], segment[b]))
          REQUIRE(places[a] < places[b]);
    for (const std::vector<int64_t> &run : runs) {
      size_t accesses = 0;
      for (int64_t i : run) {
        REQUIRE(segment[i].kernel == segment[run.front()].kernel);
        accesses += segment[i].accesses.size();
      }
      if (run.size() == 1)
        continue;
      ++shared;
      REQUIRE(segment[run.front()].kernel >= 0);
      REQUIRE(accesses <= static_cast<size_t>(most));
    }
  }
  CHECK(shared > 100);
}
