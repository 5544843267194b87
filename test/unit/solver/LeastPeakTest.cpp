// The least peak of every space against enumeration.
#include "compiler/solver/LeastPeak.h"
#include "test/unit/solver/SmallNetworks.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace cleave::solver;

namespace {

RandomShape peakShape() {
  RandomShape shape;
  shape.nodes = 6;
  shape.maxChoices = 3;
  shape.spaces = 2;
  shape.budgetShare = 0.25;
  return shape;
}

// The least bytes that all permitted combinations need at the worst row of a space.
int64_t leastOfAll(const Network &network, int space) {
  int64_t least = INT64_MAX;
  forAllChoices(network, [&](const std::vector<int> &choices) {
    if (network.totalCost(choices) == kForbidden)
      return;
    const std::vector<int64_t> bytes = network.usage(choices);
    int64_t peak = 0;
    for (size_t r = 0; r < bytes.size(); ++r)
      if (network.rows[r].space == space)
        peak = std::max(peak, bytes[r] + network.rows[r].taken);
    least = std::min(least, peak);
  });
  return least;
}

} // namespace

TEST_CASE("the least peak is never above that of any choices, and mostly equal to the least") {
  std::mt19937 random(1);
  int compared = 0, equal = 0;
  for (int k = 0; k < 60; ++k) {
    const Network network = randomNetwork(peakShape(), random);
    for (int space : {0, 1}) {
      Search search(network, 1);
      const int64_t proven = leastPeak(network, space, 60, 1 << 12, search);
      const int64_t least = leastOfAll(network, space);
      const bool hasRows = std::any_of(network.rows.begin(), network.rows.end(),
                                       [&](const Row &row) { return row.space == space; });
      INFO("network " << k << ", space " << space);
      if (!hasRows) {
        CHECK(proven == 0);
        continue;
      }
      CHECK(proven <= least);
      ++compared;
      equal += proven == least;
    }
  }
  CHECK(compared > 40);
  CHECK(equal > 0.8 * compared);
}

TEST_CASE("on the way a solution is found where the budget is just enough") {
  std::mt19937 random(2);
  int found = 0, wanted = 0;
  for (int k = 0; k < 60; ++k) {
    Problem problem = randomProblem(peakShape(), random);
    problem.spaces[0].budget = 0;    // keeps all rows
    problem.spaces[1].budget = 1000; // does not bind
    const Network before = networkOf(problem);
    if (before.rows.empty() || leastWithoutRows(before) == kForbidden)
      continue;
    problem.spaces[0].budget = leastOfAll(before, 0);
    const Network network = networkOf(problem);
    if (network.rows.empty())
      continue;
    Search search(network, 1);
    const int64_t proven = leastPeak(network, 0, 60, 1 << 12, search);
    CHECK(proven <= problem.spaces[0].budget);
    ++wanted;
    found += search.bestCost() < kForbidden;
    REQUIRE(search.leastExceeding());
  }
  CHECK(wanted > 30);
  CHECK(found > 0.9 * wanted);
}

TEST_CASE("where nothing is permitted every peak is too small") {
  Network network;
  network.rows = {{0, 0, 1, 0}};
  network.nodes.resize(2);
  for (NetworkNode &node : network.nodes) {
    node.cost = {0, 0};
    node.loads = {{0, 1, {0, 1}}};
  }
  join(network, 0, 1, std::vector<double>(4, kForbidden));
  Search search(network, 1);
  CHECK(leastPeak(network, 0, 10, 100, search) == INT64_MAX);
}

TEST_CASE("the weights of rows rise until two rows bind together") {
  // A choice that saves bytes in one row costs as many in the other: 10 and 10, 8 and 12, 12 and 8.
  Network network;
  network.rows = {{0, 0, 9, 0}, {0, 1, 9, 0}};
  NetworkNode node;
  node.cost = {0, 0, 0};
  node.loads = {{0, 1, {8, 12, 10}}, {1, 2, {12, 8, 10}}};
  network.nodes.push_back(std::move(node));
  Search search(network, 1);
  CHECK(leastPeak(network, 0, 60, 100, search) == 10);
  CHECK(search.leastExceeding() == std::vector<int>{2});
}

// The bound that leastPeak() proves for a node without edges, computed from its definition. Every
// row has a weight, and the bytes of the cheapest choice under the weights are a bound. Weights
// then grow with the row's share of the largest load: by at most e^8 at first, by a 3 % smaller
// exponent in each iteration, and by no less than e^0.2.
static int64_t provenByWeights(const Network &network, int iterations) {
  const NetworkNode &node = network.nodes[0];
  const size_t rows = network.rows.size();
  std::vector<double> logWeights(rows, 0.0);
  double rate = 8, proven = 0;
  for (int k = 0; k < iterations; ++k, rate = std::max(0.2, 0.97 * rate)) {
    const double largest = *std::max_element(logWeights.begin(), logWeights.end());
    double sum = 0, least = kForbidden;
    for (double weight : logWeights)
      sum += std::exp(weight - largest);
    size_t choice = 0;
    for (size_t i = 0; i < node.size(); ++i) {
      double mean = 0;
      for (size_t r = 0; r < rows; ++r)
        mean +=
            std::exp(logWeights[r] - largest) / sum * static_cast<double>(node.loads[r].bytes[i]);
      if (mean < least) {
        least = mean;
        choice = i;
      }
    }
    proven = std::max(proven, std::ceil(least - 1e-5));
    double peak = 1;
    for (size_t r = 0; r < rows; ++r)
      peak = std::max(peak, static_cast<double>(node.loads[r].bytes[choice]));
    if (peak <= proven)
      break;
    for (size_t r = 0; r < rows; ++r)
      logWeights[r] += rate * static_cast<double>(node.loads[r].bytes[choice]) / peak;
  }
  return static_cast<int64_t>(proven);
}

TEST_CASE("the weights of rows grow at the stated rates") {
  std::mt19937 random(3);
  for (int k = 0; k < 10; ++k) {
    Network network;
    NetworkNode node;
    node.cost.assign(8, 0.0);
    for (int r = 0; r < 5; ++r) {
      network.rows.push_back({0, r, 0, 0});
      node.loads.push_back({r, r + 1, {}});
      for (int i = 0; i < 8; ++i)
        node.loads[r].bytes.push_back(static_cast<int64_t>(random() % 1'000'000));
    }
    network.nodes.push_back(std::move(node));
    for (int iterations : {1, 2, 4, 10, 40, 200}) {
      Search search(network, 1);
      INFO("network " << k << ", " << iterations << " iterations");
      CHECK(leastPeak(network, 0, iterations, 100, search) ==
            Approx(provenByWeights(network, iterations)).margin(1));
    }
  }
}
