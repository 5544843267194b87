// Elimination against enumeration: exact, or a bound by split tables.
#include "compiler/solver/Elimination.h"
#include "test/unit/solver/SmallNetworks.h"

#include <catch2/catch.hpp>

#include <numeric>

using namespace cleave::solver;

namespace {

RandomShape denseShape() {
  RandomShape shape;
  shape.nodes = 6;
  shape.maxChoices = 3;
  shape.edgesPerNode = 2;
  shape.budgetShare = 1; // no rows
  return shape;
}

// `nodes` nodes of `choices` choices each, all joined with each other, `copies` times. The costs of
// the copies differ, so that none is eliminated with another.
Network cliques(int copies, int nodes, size_t choices) {
  Network network;
  for (int copy = 0; copy < copies; ++copy)
    for (int k = 0; k < nodes; ++k) {
      NetworkNode node;
      node.cost.assign(choices, copy);
      network.nodes.push_back(std::move(node));
      const int v = copy * nodes + k;
      for (int other = copy * nodes; other < v; ++other)
        join(network, other, v, std::vector<double>(choices * choices, 1.0));
    }
  return network;
}

} // namespace

TEST_CASE("exact elimination finds the least cost and choices that attain it") {
  std::mt19937 random(1);
  for (int k = 0; k < 80; ++k) {
    const Network network = randomNetwork(denseShape(), random);
    Elimination elimination(network, 1 << 20);
    REQUIRE(elimination.isExact());
    const double least = elimination.minimize(costsOf(network));
    INFO("network " << k);
    CHECK(least + network.constant == Approx(leastWithoutRows(network)));
    const std::vector<int> choices = elimination.decode();
    CHECK(network.totalCost(choices) == Approx(leastWithoutRows(network)));
    const NodeCosts support = elimination.support();
    for (size_t v = 0; v < support.size(); ++v)
      for (size_t i = 0; i < support[v].size(); ++i)
        CHECK(support[v][i] == (choices[v] == static_cast<int>(i) ? 1.0 : 0.0));
  }
}

TEST_CASE("the node costs of a call replace those of the network, call after call") {
  std::mt19937 random(2);
  Network network = randomNetwork(denseShape(), random);
  Elimination elimination(network, 1 << 20);
  for (int k = 0; k < 20; ++k) {
    NodeCosts costs = costsOf(network);
    for (std::vector<double> &list : costs)
      for (double &cost : list)
        cost += static_cast<double>(random() % 30);
    Network changed = network;
    for (size_t v = 0; v < costs.size(); ++v)
      changed.nodes[v].cost = costs[v];
    CHECK(elimination.minimize(costs) == Approx(leastWithoutRows(changed)));
  }
}

TEST_CASE("split tables bound the least cost from below, and more entries split fewer") {
  std::mt19937 random(3);
  double sums[3] = {0, 0, 0}; // of the bounds with tables of 9, 27 and all entries
  int split = 0;
  for (int k = 0; k < 60; ++k) {
    const Network network = randomNetwork(denseShape(), random);
    const double least = leastWithoutRows(network);
    const int64_t sizes[3] = {9, 27, 1 << 20};
    for (int s = 0; s < 3; ++s) {
      Elimination elimination(network, sizes[s]);
      const double bound = elimination.minimize(costsOf(network)) + network.constant;
      split += !elimination.isExact();
      CHECK(bound <= least + 1e-9);
      if (elimination.isExact())
        CHECK(bound == Approx(least));
      sums[s] += bound;
    }
  }
  CHECK(split > 30);
  CHECK(sums[0] < sums[1]);
  CHECK(sums[1] < sums[2]);
}

TEST_CASE("the support is nearly always the derivative of the bound in the node costs") {
  std::mt19937 random(4);
  RandomShape shape = denseShape();
  shape.forbiddenShare = 0;
  shape.isInteger = false;
  int fractional = 0, derivatives = 0;
  for (int k = 0; k < 60; ++k) {
    const Network network = randomNetwork(shape, random);
    Elimination elimination(network, 9);
    NodeCosts costs = costsOf(network);
    const double bound = elimination.minimize(costs);
    const NodeCosts support = elimination.support();
    double more = 0;
    for (size_t v = 0; v < costs.size(); ++v) {
      CHECK(std::accumulate(support[v].begin(), support[v].end(), 0.0) == Approx(1));
      fractional += *std::max_element(support[v].begin(), support[v].end()) < 0.99;
      for (size_t i = 0; i < costs[v].size(); ++i) {
        const double change = (static_cast<double>(random() % 21) - 10) * 1e-11;
        costs[v][i] += change;
        more += support[v][i] * change;
      }
    }
    derivatives += elimination.minimize(costs) - bound == Approx(more).margin(1e-14);
  }
  CHECK(derivatives > 0.9 * 60); // else the costs that are balanced between groups change it
  CHECK(fractional > 5);
}

TEST_CASE("a network in which nothing is permitted costs infinity") {
  Network network;
  network.nodes.resize(2);
  network.nodes[0].cost = network.nodes[1].cost = {1, 2};
  join(network, 0, 1, std::vector<double>(4, kForbidden));
  Elimination elimination(network, 100);
  CHECK(elimination.minimize(costsOf(network)) == kForbidden);
}

TEST_CASE("the work of elimination is that of its tables, times their inputs") {
  // A chain: each node but the last has one table of 5 entries over the next one.
  Network chain;
  for (int v = 0; v < 4; ++v) {
    NetworkNode node;
    node.cost = {1.0 * v, 2, 3, 4, 5};
    chain.nodes.push_back(node);
    if (v > 0)
      join(chain, v - 1, v, agreement(5, v));
  }
  const Elimination elimination(chain, 100);
  // The first one reads one table, those behind it two, and the last one the table before it.
  CHECK(elimination.work() == 25 * (1 + 1) + 2 * 25 * (1 + 2) + 5 * (1 + 1));
}

TEST_CASE("elimination is exact as long as its tables have at most 2^24 entries") {
  CHECK(makeExact(cliques(1, 4, 64)) != nullptr); // 64^4 = 2^24
  CHECK(makeExact(cliques(1, 4, 65)) == nullptr);
}

TEST_CASE("elimination is exact as long as its additions are affordable") {
  const Network two = cliques(2, 4, 64), three = cliques(3, 4, 64);
  const int64_t work = Elimination(two, 1 << 24).work();
  CHECK(work < 200'000'000);
  CHECK(work > 100'000'000);
  CHECK(makeExact(two) != nullptr); // the default affords 200 million
  CHECK(makeExact(three) == nullptr);
  CHECK(makeExact(two, work) != nullptr);
  CHECK(makeExact(two, work - 1) == nullptr);
}
