// Balanced partitions against all partitions.
#include "compiler/schedule/pipelines/Partition.h"

#include "test/unit/schedule_pipelines/Evaluated.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <limits>
#include <numeric>

using namespace cleave;
using namespace cleave::pipelines;
using Catch::Matchers::Contains;
using Sizes = std::vector<uint32_t>;

namespace {

Sizes partition(const std::vector<double> &seconds, uint32_t stages,
                const std::vector<double> &borders = {}) {
  Result<Sizes> sizes = balancedPartition(seconds, stages, borders);
  INFO(sizes.status().message());
  REQUIRE(sizes);
  return *sizes;
}

// The slowest stage, and the sum of squares of all.
std::pair<double, double> costOf(const std::vector<double> &seconds, const Sizes &sizes,
                                 const std::vector<double> &borders) {
  std::pair<double, double> cost;
  uint32_t begin = 0;
  for (uint32_t size : sizes) {
    const double stage = std::accumulate(seconds.begin() + begin, seconds.begin() + begin + size,
                                         borders[begin] + borders[begin + size]);
    begin += size;
    cost = {std::max(cost.first, stage), cost.second + stage * stage};
  }
  return cost;
}

} // namespace

TEST_CASE("27 equal layers on 4 stages lose none") {
  CHECK(partition(std::vector<double>(27, 1), 4) == Sizes{6, 7, 7, 7});
  CHECK(partition(std::vector<double>(24, 1), 4) == Sizes{6, 6, 6, 6});
}

TEST_CASE("a stage with an expensive head has fewer layers") {
  std::vector<double> seconds(28, 1);
  seconds.front() = 0.25;
  seconds.back() = 3;
  CHECK(partition(seconds, 4) == Sizes{8, 7, 7, 6});
}

TEST_CASE("a layer that is slower than all others has a stage of its own") {
  CHECK(partition({1, 1, 9, 1, 1}, 3) == Sizes{2, 1, 2});
  CHECK(partition({1, 2, 3}, 3) == Sizes{1, 1, 1});
  CHECK(partition({1, 2, 3}, 1) == Sizes{3});
}

TEST_CASE("a border prefers the place where stages pass little") {
  CHECK(partition({1, 1, 1, 1}, 2, {0, 1, 5, 2, 0}) == Sizes{1, 3});
}

TEST_CASE("the partition is the best of all partitions") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    RandomCase random(seed);
    std::vector<double> seconds(random.from(1, 9));
    for (double &layer : seconds)
      layer = random.seconds() - 0.125; // some are 0
    std::vector<double> borders(seconds.size() + 1);
    for (size_t i = 1; i < seconds.size(); ++i)
      borders[i] = seed % 2 ? random.seconds() : 0;
    const uint32_t stages = random.from(1, static_cast<uint32_t>(seconds.size()));
    std::pair<double, double> best{std::numeric_limits<double>::infinity(), 0};
    const std::function<void(Sizes &, uint32_t)> visit = [&](Sizes &sizes, uint32_t left) {
      if (sizes.size() == stages && left == 0)
        best = std::min(best, costOf(seconds, sizes, borders));
      for (uint32_t size = 1; sizes.size() < stages && size <= left; ++size) {
        sizes.push_back(size);
        visit(sizes, left - size);
        sizes.pop_back();
      }
    };
    Sizes sizes;
    visit(sizes, static_cast<uint32_t>(seconds.size()));
    const Sizes found = partition(seconds, stages, borders);
    INFO("seed " << seed);
    CHECK(found.size() == stages);
    CHECK(std::accumulate(found.begin(), found.end(), 0u) == seconds.size());
    CHECK(costOf(seconds, found, borders) == best);
  }
}

TEST_CASE("fewer layers than stages, and seconds that are none, are user errors") {
  CHECK_THAT(refusal(balancedPartition({1, 1}, 3).status()),
             Contains("found 2 layers for 3 stages"));
  CHECK_THAT(refusal(balancedPartition({1}, 0).status()), Contains("expected at least one stage"));
  CHECK_THAT(refusal(balancedPartition({1, -1}, 1).status()), Contains("layer 1 takes -1 seconds"));
  CHECK_THAT(refusal(balancedPartition({std::numeric_limits<double>::infinity()}, 1).status()),
             Contains("expected a finite number"));
  CHECK_THAT(refusal(balancedPartition({1, 1}, 1, {0, 0}).status()),
             Contains("found 2 borders of 2 layers"));
}
