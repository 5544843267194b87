// Choices and pairs that no better solution takes, against enumeration.
#include "compiler/solver/Fixing.h"
#include "test/unit/solver/SmallNetworks.h"

#include <catch2/catch.hpp>

using namespace cleave::solver;

namespace {

RandomShape fixingShape() {
  RandomShape shape;
  shape.nodes = 6;
  shape.maxChoices = 3;
  shape.edgesPerNode = 1.5;
  shape.budgetShare = 0.4;
  shape.isInteger = false;
  return shape;
}

Prices randomPrices(const Network &network, std::mt19937 &random) {
  Prices prices;
  for (size_t r = 0; r < network.rows.size(); ++r)
    prices.push_back(static_cast<double>(random() % 3) * 1e-4);
  return prices;
}

size_t countOf(const std::vector<std::vector<bool>> &lists) {
  size_t count = 0;
  for (const std::vector<bool> &list : lists)
    count += std::count(list.begin(), list.end(), true);
  return count;
}

} // namespace

TEST_CASE("bounds of choices and pairs are below all solutions that take them") {
  std::mt19937 random(1);
  for (int k = 0; k < 40; ++k) {
    const Network network = randomNetwork(fixingShape(), random);
    Elimination elimination(network, k % 2 ? 9 : 1 << 20);
    const Marginals least = lowerBounds(network, elimination, costsOf(network),
                                        randomPrices(network, random), /*withPairs=*/true);
    forAllChoices(network, [&](const std::vector<int> &choices) {
      const double cost = network.totalCost(choices);
      if (cost == kForbidden || !fitsRows(network, choices))
        return;
      for (size_t v = 0; v < choices.size(); ++v)
        if (least.choices[v][choices[v]] > cost + 1e-9)
          FAIL("network " << k << ": the bound of a choice of node " << v << " is too high");
      for (size_t e = 0; e < network.edges.size(); ++e) {
        const NetworkEdge &edge = network.edges[e];
        const size_t columns = network.nodes[edge.to].size();
        if (least.pairs[e][choices[edge.from] * columns + choices[edge.to]] > cost + 1e-9)
          FAIL("network " << k << ": the bound of a pair of edge " << e << " is too high");
      }
    });
  }
}

TEST_CASE("everything below the upper bound is left when what is above is dropped") {
  std::mt19937 random(2);
  size_t choices = 0, pairs = 0;
  for (int k = 0; k < 60; ++k) {
    const Network network = randomNetwork(fixingShape(), random);
    const double best = leastWithin(network);
    if (best == kForbidden)
      continue;
    const double upper = best * 1.05 + 1e-9;
    Elimination elimination(network, 1 << 20);
    const Marginals least = lowerBounds(network, elimination, costsOf(network),
                                        randomPrices(network, random), /*withPairs=*/true);
    const Drops drops = dropsAbove(network, least, upper);
    CHECK_FALSE(drops.leavesNone());
    choices += countOf(drops.choices);
    pairs += countOf(drops.pairs);
    const Network left = without(drops, network);
    forAllChoices(network, [&](const std::vector<int> &choices) {
      const double cost = network.totalCost(choices);
      if (cost >= upper || !fitsRows(network, choices))
        return;
      if (left.totalCost(choices) != cost)
        FAIL("network " << k << ": a solution below the upper bound was dropped");
    });
  }
  CHECK(choices > 100);
  CHECK(pairs > 50);
}

TEST_CASE("shares count choices beyond the first, and permitted pairs of what is left") {
  Network network;
  network.nodes.resize(2);
  network.nodes[0].cost = network.nodes[1].cost = {0, 1, 2};
  join(network, 0, 1, {0, 1, 2, kForbidden, 4, 5, 6, 7, 8});
  Marginals least;
  least.choices = {{1, 5, 9}, {1, 1, 1}};
  least.pairs = {{1, 9, 9, kForbidden, 1, 1, 9, 9, 9}};
  const Drops drops = dropsAbove(network, least, 9);
  CHECK(drops.choices ==
        std::vector<std::vector<bool>>{{false, false, true}, {false, false, false}});
  CHECK(drops.choiceShare == 1.0 / 4);
  CHECK(drops.pairs[0] ==
        std::vector<bool>{false, true, true, false, false, false, false, false, false});
  CHECK(drops.pairShare == 2.0 / 5);
  CHECK_FALSE(drops.leavesNone());
  CHECK(dropsAbove(network, least, 1).leavesNone());
  const Network left = without(drops, network);
  CHECK(left.nodes[0].cost == std::vector<double>{0, 1, kForbidden});
  CHECK(left.edges[0].cost == CostTable{0, kForbidden, kForbidden, kForbidden, 4, 5, 6, 7, 8});
}

TEST_CASE("a choice that exceeds the least budget of any of its rows is dropped") {
  std::mt19937 random(3);
  for (int k = 0; k < 40; ++k) {
    Network network;
    for (int r = 0; r < 9; ++r)
      network.rows.push_back({0, r, static_cast<int64_t>(random() % 20), 0});
    Marginals least;
    for (int v = 0; v < 6; ++v) {
      NetworkNode node;
      node.cost = {0, 0};
      const int begin = static_cast<int>(random() % 9);
      const int end = begin + 1 + static_cast<int>(random() % (9 - begin));
      node.loads = {{begin, end, {0, static_cast<int64_t>(random() % 20)}}};
      network.nodes.push_back(std::move(node));
      least.choices.push_back({0, 0});
    }
    const Drops drops = dropsAbove(network, least, 1);
    for (size_t v = 0; v < network.nodes.size(); ++v) {
      const Load &load = network.nodes[v].loads[0];
      int64_t budget = INT64_MAX;
      for (int r = load.begin; r < load.end; ++r)
        budget = std::min(budget, network.rows[r].budget);
      CHECK(drops.choices[v] == std::vector<bool>{false, load.bytes[1] > budget});
    }
  }
}

TEST_CASE("prices go to the rows of the same space and time") {
  const std::vector<Row> from = {{0, 1, 0, 0}, {0, 4, 0, 0}, {1, 2, 0, 0}};
  const std::vector<Row> to = {{0, 4, 9, 1}, {0, 5, 9, 1}, {1, 1, 9, 1}, {1, 2, 9, 1}};
  CHECK(matchPrices(from, {3, 5, 7}, to) == Prices{5, 0, 0, 7});
  CHECK(matchPrices({}, {}, to) == Prices{0, 0, 0, 0});
  CHECK(matchPrices(from, {3, 5, 7}, {}).empty());
}
