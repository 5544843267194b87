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

Sizes partition(const std::vector<double> &seconds, uint32_t stages) {
  Result<Sizes> sizes = balancedPartition(seconds, stages);
  INFO(sizes.status().message());
  REQUIRE(sizes);
  return *sizes;
}

// The slowest stage, and the sum of squares of all.
std::pair<double, double> costOf(const std::vector<double> &seconds, const Sizes &sizes) {
  std::pair<double, double> cost;
  auto layer = seconds.begin();
  for (uint32_t size : sizes) {
    const double stage = std::accumulate(layer, layer + size, 0.0);
    layer += size;
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

TEST_CASE("the partition is the best of all partitions") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    RandomCase random(seed);
    std::vector<double> seconds(random.from(1, 9));
    for (double &layer : seconds)
      layer = random.seconds() - 0.125; // some are 0
    const uint32_t stages = random.from(1, static_cast<uint32_t>(seconds.size()));
    std::pair<double, double> best{std::numeric_limits<double>::infinity(), 0};
    const std::function<void(Sizes &, uint32_t)> visit = [&](Sizes &sizes, uint32_t left) {
      if (sizes.size() == stages && left == 0)
        best = std::min(best, costOf(seconds, sizes));
      for (uint32_t size = 1; sizes.size() < stages && size <= left; ++size) {
        sizes.push_back(size);
        visit(sizes, left - size);
        sizes.pop_back();
      }
    };
    Sizes sizes;
    visit(sizes, static_cast<uint32_t>(seconds.size()));
    const Sizes found = partition(seconds, stages);
    INFO("seed " << seed);
    CHECK(found.size() == stages);
    CHECK(std::accumulate(found.begin(), found.end(), 0u) == seconds.size());
    CHECK(costOf(seconds, found) == best);
  }
}

TEST_CASE("fewer layers than stages, and seconds that are none, are user errors") {
  CHECK_THAT(refusal(balancedPartition({1, 1}, 3).status()),
             Contains("found 2 layers for 3 stages"));
  CHECK_THAT(refusal(balancedPartition({1}, 0).status()), Contains("expected at least one stage"));
  CHECK_THAT(refusal(balancedPartition({1, -1}, 1).status()), Contains("layer 1 takes -1 seconds"));
  CHECK_THAT(refusal(balancedPartition({std::numeric_limits<double>::infinity()}, 1).status()),
             Contains("expected a finite number"));
}
