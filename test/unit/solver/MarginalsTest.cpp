// Lower bounds per choice and per pair of choices against exhaustive search.
#include "compiler/solver/Elimination.h"
#include "test/unit/solver/SmallNetworks.h"

#include <catch2/catch.hpp>

#include <set>

using namespace cleave::solver;

// The costs of the network's nodes, minimised: what marginals() reads.
static double minimised(Elimination &elimination, const Network &network) {
  return elimination.minimize(costsOf(network));
}

TEST_CASE("min-marginals are the least costs with each choice, or bounds on them") {
  RandomShape shape;
  shape.nodes = 5;
  shape.budgetShare = 1;
  shape.edgesPerNode = 2;
  std::mt19937 random(5);
  int inexact = 0;
  for (int k = 0; k < 60; ++k) {
    const Network network = randomNetwork(shape, random);
    Elimination whole(network, 1 << 20), split(network, 4);
    const double least = minimised(whole, network), bound = minimised(split, network);
    REQUIRE(whole.isExact());
    inexact += !split.isExact();
    CHECK(least == Approx(leastWithoutRows(network) - network.constant).margin(1e-9));
    const NodeCosts exact = whole.marginals(false).choices, bounds = split.marginals(false).choices;
    for (size_t v = 0; v < network.nodes.size(); ++v)
      for (size_t i = 0; i < network.nodes[v].size(); ++i) {
        const double with = leastCost(network, [&](const std::vector<int> &choices) {
          return choices[v] == static_cast<int>(i);
        });
        INFO("network " << k << ", node " << v << ", choice " << i);
        if (with == kForbidden)
          CHECK(exact[v][i] == kForbidden);
        else
          CHECK(exact[v][i] == Approx(with).margin(1e-9));
        CHECK(bounds[v][i] <= (with == kForbidden ? kForbidden : with + 1e-9));
        CHECK(bounds[v][i] >= bound - 1e-9);
      }
  }
  CHECK(inexact > 20);
}

TEST_CASE("bounds of pairs are the least costs with both choices, or bounds on them") {
  RandomShape shape;
  shape.nodes = 5;
  shape.budgetShare = 1;
  shape.edgesPerNode = 2;
  std::mt19937 random(7);
  std::set<bool> exact;
  for (int k = 0; k < 40; ++k) {
    const Network network = randomNetwork(shape, random);
    Elimination elimination(network, k % 2 ? 4 : 1 << 20);
    exact.insert(elimination.isExact());
    REQUIRE(minimised(elimination, network) < kForbidden);
    const Marginals found = elimination.marginals(true);
    for (size_t e = 0; e < network.edges.size(); ++e)
      for (size_t entry = 0; entry < network.edges[e].cost.size(); ++entry) {
        const NetworkEdge &edge = network.edges[e];
        const int columns = static_cast<int>(network.nodes[edge.to].size());
        const double least = leastCost(network, [&](const std::vector<int> &choices) {
          return choices[edge.from] * columns + choices[edge.to] == static_cast<int>(entry);
        });
        INFO("network " << k << ", edge " << e << ", entry " << entry);
        if (elimination.isExact() && least < kForbidden)
          CHECK(found.pairs[e][entry] == Approx(least).margin(1e-9));
        else
          CHECK(found.pairs[e][entry] <= least + 1e-9);
      }
  }
  CHECK(exact.size() == 2);
}

TEST_CASE("the work of a second sweep grows with the tables that it reads") {
  RandomShape shape;
  shape.nodes = 5;
  std::mt19937 random(8);
  for (int k = 0; k < 20; ++k) {
    const Network network = randomNetwork(shape, random);
    const Elimination elimination(network, 1 << 20);
    CHECK(elimination.marginalsWork() > elimination.work());
    CHECK(elimination.marginalsWork() <= 2 * elimination.work() + 2 * 5 * 4 * 4);
  }
}
