// Descent and repair against plain loops over single changes.
#include "compiler/solver/Search.h"
#include "test/unit/solver/SmallNetworks.h"

#include <catch2/catch.hpp>

using namespace cleave::solver;

namespace {

RandomShape searchShape() {
  RandomShape shape;
  shape.nodes = 7;
  shape.maxChoices = 4;
  shape.spaces = 2;
  shape.budgetShare = 0.4;
  shape.isInteger = false;
  return shape;
}

std::vector<int> randomChoices(const Network &network, std::mt19937 &random) {
  std::vector<int> choices;
  for (const NetworkNode &node : network.nodes)
    choices.push_back(static_cast<int>(random() % node.size()));
  return choices;
}

// The largest excess of a row as a share of its budget, before any bytes were taken from it.
double excessOf(const Network &network, const std::vector<int> &choices) {
  const std::vector<int64_t> bytes = network.usage(choices);
  double most = -1;
  for (size_t r = 0; r < bytes.size(); ++r) {
    const Row &row = network.rows[r];
    most = std::max(most, static_cast<double>(bytes[r] - row.budget) /
                              std::max(1.0, static_cast<double>(row.budget + row.taken)));
  }
  return most;
}

// Items of a knapsack: each saves seconds[k] by taking bytes[k].
Network knapsack(const std::vector<double> &seconds, const std::vector<int64_t> &bytes,
                 int64_t budget) {
  Network network;
  network.rows = {{0, 0, budget, 0}};
  for (size_t k = 0; k < seconds.size(); ++k) {
    NetworkNode node;
    node.cost = {seconds[k], 0};
    node.loads = {{0, 1, {0, bytes[k]}}};
    network.nodes.push_back(std::move(node));
  }
  return network;
}

} // namespace

TEST_CASE(
    "a search accepts what is permitted and fits, and improves it as far as single changes can") {
  std::mt19937 random(1);
  int accepted = 0, refused = 0;
  for (int k = 0; k < 60; ++k) {
    const Network network = randomNetwork(searchShape(), random);
    for (int n = 0; n < 20; ++n) {
      const std::vector<int> choices = randomChoices(network, random);
      const double cost = network.totalCost(choices);
      Search search(network, 1);
      const bool isSolution = cost < kForbidden && fitsRows(network, choices);
      REQUIRE(search.offer(choices) == isSolution);
      ++(isSolution ? accepted : refused);
      if (!isSolution) {
        CHECK(search.best().empty());
        CHECK(search.bestCost() == kForbidden);
        continue;
      }
      CHECK(search.bestCost() <= cost);
      CHECK(search.bestCost() == Approx(network.totalCost(search.best())));
      CHECK(fitsRows(network, search.best()));
      for (size_t v = 0; v < network.nodes.size(); ++v)
        for (size_t i = 0; i < network.nodes[v].size(); ++i) {
          std::vector<int> changed = search.best();
          changed[v] = static_cast<int>(i);
          CHECK((network.totalCost(changed) >= search.bestCost() * (1 - 1e-9) ||
                 !fitsRows(network, changed)));
        }
    }
  }
  CHECK(accepted > 100);
  CHECK(refused > 100);
}

TEST_CASE(
    "the best solution never becomes worse, and of all that exceed budgets the least is kept") {
  std::mt19937 random(2);
  for (int k = 0; k < 40; ++k) {
    const Network network = randomNetwork(searchShape(), random);
    Search search(network, 1);
    double best = kForbidden, least = kForbidden;
    for (int n = 0; n < 30; ++n) {
      const std::vector<int> choices = randomChoices(network, random);
      if (network.totalCost(choices) < kForbidden)
        least = std::min(least, excessOf(network, choices));
      search.offer(choices);
      CHECK(search.bestCost() <= best);
      best = search.bestCost();
      REQUIRE(search.leastExceeding().has_value() == (least < kForbidden));
      if (search.leastExceeding())
        CHECK(excessOf(network, *search.leastExceeding()) == least);
    }
  }
}

TEST_CASE("a repair frees the bytes that cost the fewest seconds each") {
  // All items together take 12 bytes; 9 fit.
  const Network network = knapsack({6, 5, 2, 4}, {3, 3, 3, 3}, 9);
  Search search(network, 1);
  REQUIRE(search.repair({1, 1, 1, 1}, {0}));
  CHECK(search.best() == std::vector<int>{1, 1, 0, 1});
  // Bytes beyond the excess do not count: 1 second frees the one byte that has to go.
  const Network large = knapsack({4, 1}, {9, 1}, 9);
  Search other(large, 1);
  REQUIRE(other.repair({1, 1}, {0}));
  CHECK(other.best() == std::vector<int>{1, 0});
}

TEST_CASE("a repair counts the price of the bytes that a change moves elsewhere") {
  Network network = knapsack({4, 5}, {3, 3}, 3);
  network.rows.push_back({0, 1, 100, 0});
  for (int v = 0; v < 2; ++v)
    network.nodes[v].loads.push_back({1, 2, {v == 0 ? 2 : 0, 0}});
  Search unpriced(network, 1), priced(network, 1);
  REQUIRE(unpriced.repair({1, 1}, {0, 0}));
  CHECK(unpriced.leastExceeding() == std::vector<int>{0, 1});
  REQUIRE(priced.repair({1, 1}, {0, 1})); // then node 0 costs 4 + 2 seconds
  CHECK(priced.leastExceeding() == std::vector<int>{1, 0});
}

TEST_CASE("repaired choices fit, and most choices can be repaired") {
  std::mt19937 random(3);
  int repaired = 0, wanted = 0;
  for (int k = 0; k < 60; ++k) {
    const Network network = randomNetwork(searchShape(), random);
    const bool isFeasible = leastWithin(network) < kForbidden;
    for (int n = 0; n < 10; ++n) {
      const std::vector<int> choices = randomChoices(network, random);
      Search search(network, 1);
      const bool found = search.repair(choices, Prices(network.rows.size(), 0.0));
      CHECK(found == !search.best().empty());
      if (found)
        CHECK(fitsRows(network, search.best()));
      const bool isWanted = isFeasible && network.totalCost(choices) < kForbidden;
      CHECK((!found || isWanted));
      wanted += isWanted;
      repaired += found;
    }
  }
  CHECK(wanted > 100);
  CHECK(repaired > 0.8 * wanted);
}

TEST_CASE("a repair changes each node twice, and twenty more, before it gives up") {
  // Each change lowers the row by one byte; the row exceeds its budget by `excess`.
  auto repairs = [](int64_t excess) {
    NetworkNode node;
    const int64_t steps = 100;
    for (int64_t i = 0; i <= steps; ++i) {
      node.cost.push_back(static_cast<double>(i * i)); // a large step costs more per byte
      if (node.loads.empty())
        node.loads = {{0, 1, {}}};
      node.loads[0].bytes.push_back(steps - i);
    }
    Network network;
    network.rows = {{0, 0, steps - excess, 0}};
    network.nodes = {node};
    Search search(network, 1);
    return search.repair({0}, {0});
  };
  CHECK(repairs(1));
  CHECK(repairs(21)); // the last of 22 passes offers what fits
  CHECK_FALSE(repairs(22));
}

TEST_CASE("choices that cost 5 % more than the best solution are not improved") {
  // Two nodes that agree on 0 or on 1; a third one saves 5 seconds by choice 1.
  auto bestAfter = [](double more) {
    Network network;
    network.nodes.resize(3);
    network.nodes[0].cost = {95, 93 + more};
    network.nodes[1].cost = {0, 0};
    network.nodes[2].cost = {5, 0};
    join(network, 0, 1, agreement(2, 1000));
    Search search(network, 1);
    search.offer({0, 0, 0}); // ends at a cost of 95
    REQUIRE(search.bestCost() == 95);
    REQUIRE(search.offer({1, 1, 0})); // 98 + more, and without the third one's 5 seconds 93 + more
    return search.bestCost();
  };
  CHECK(bestAfter(0.5) == 93.5);         // 3.7 % more
  CHECK(bestAfter(1.7) == Approx(94.7)); // 4.9 %
  CHECK(bestAfter(1.8) == 95);           // 5.05 %
}
