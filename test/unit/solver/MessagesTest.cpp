// The bound of messages against enumeration, and what they keep of a network.
#include "compiler/solver/Messages.h"
#include "test/unit/solver/SmallNetworks.h"

#include <catch2/catch.hpp>

using namespace cleave::solver;

namespace {

RandomShape shapeOf(double edgesPerNode, double budgetShare) {
  RandomShape shape;
  shape.nodes = 6;
  shape.maxChoices = 3;
  shape.edgesPerNode = edgesPerNode;
  shape.budgetShare = budgetShare;
  shape.isInteger = false;
  return shape;
}

AscentOptions passes(int iterations) {
  AscentOptions options;
  options.iterations = iterations;
  return options;
}

Prices noPrices(const Network &network) { return Prices(network.rows.size(), 0.0); }

// The sum of the least entries of all nodes and edges: the bound that a network states itself.
double statedBound(const Network &network) {
  double sum = network.constant;
  for (const NetworkNode &node : network.nodes)
    sum += *std::min_element(node.cost.begin(), node.cost.end());
  for (const NetworkEdge &edge : network.edges)
    sum += *std::min_element(edge.cost.begin(), edge.cost.end());
  return sum;
}

} // namespace

TEST_CASE("messages never exceed the least cost, without rows and within budgets") {
  std::mt19937 random(1);
  int rows = 0;
  double gained = 0;
  for (int k = 0; k < 120; ++k) {
    const Network network = randomNetwork(shapeOf(2.2, k % 2 ? 0.35 : 1), random);
    Messages messages(network);
    const Tightened found = messages.tighten(noPrices(network), passes(50), {});
    INFO("network " << k);
    const double least = leastWithin(network);
    if (least < kForbidden)
      CHECK(found.bound <= least * (1 + 1e-12));
    CHECK(found.prices.size() == network.rows.size());
    for (double price : found.prices) {
      CHECK(price >= 0);
      rows += price > 0;
    }
    CHECK(found.bound >= statedBound(network) * (1 - 1e-12));
    gained += found.bound > statedBound(network) * (1 + 1e-9);
  }
  CHECK(rows > 20);   // memory binds in many of them
  CHECK(gained > 60); // and messages raise the bound of most
}

TEST_CASE("on chains without rows messages find the least cost") {
  std::mt19937 random(2);
  for (int k = 0; k < 60; ++k) {
    const Network network = randomNetwork(shapeOf(0.84, 1), random);
    REQUIRE(network.rows.empty());
    Messages messages(network);
    INFO("network " << k);
    CHECK(messages.tighten({}, passes(50), {}).bound == Approx(leastWithoutRows(network)));
  }
}

TEST_CASE("the rewritten network costs the same and states the bound of the messages") {
  std::mt19937 random(3);
  for (int k = 0; k < 40; ++k) {
    const Network network = randomNetwork(shapeOf(2.2, 1), random);
    Messages messages(network);
    const Tightened found = messages.tighten({}, passes(30), {});
    const Network rewritten = messages.rewritten();
    INFO("network " << k);
    CHECK(statedBound(rewritten) == Approx(found.bound));
    double most = 0;
    forAllChoices(network, [&](const std::vector<int> &choices) {
      const double before = network.totalCost(choices), now = rewritten.totalCost(choices);
      if ((before < kForbidden) != (now < kForbidden))
        most = kForbidden;
      else if (before < kForbidden)
        most = std::max(most, std::abs(now - before));
    });
    CHECK(most < 1e-12);
  }
}

TEST_CASE("messages go on from those before") {
  std::mt19937 random(4);
  int risen = 0;
  for (int k = 0; k < 30; ++k) {
    const Network network = randomNetwork(shapeOf(2.5, 1), random);
    Messages messages(network);
    const double first = messages.tighten({}, passes(1), {}).bound;
    const double second = messages.tighten({}, passes(1), {}).bound;
    CHECK(second >= first * (1 - 1e-12));
    risen += second > first * (1 + 1e-9);
  }
  CHECK(risen > 5);
}

TEST_CASE("choices decoded on the way are candidates, and their cost ends the passes") {
  std::mt19937 random(5);
  int ended = 0;
  for (int k = 0; k < 30; ++k) {
    const Network network = randomNetwork(shapeOf(0.84, 1), random);
    Messages messages(network);
    double best = kForbidden;
    const Candidate candidate = [&](const std::vector<int> &choices) {
      return best = std::min(best, network.totalCost(choices));
    };
    AscentOptions options = passes(50);
    options.leastRise = -1; // no pass is idle
    const Tightened found = messages.tighten({}, options, candidate);
    CHECK(best >= leastWithoutRows(network));
    ended += found.iterations < 4 && best == leastWithoutRows(network);
  }
  CHECK(ended > 15);
}

TEST_CASE("prices end where the dual of the memory row ends") {
  // Two choices of equal seconds per byte saved: any price above that frees all bytes at once.
  Network network;
  network.rows = {{0, 0, 5, 0}};
  for (int v = 0; v < 4; ++v) {
    NetworkNode node;
    node.cost = {1, 4};
    node.loads = {{0, 1, {3, 0}}};
    network.nodes.push_back(std::move(node));
  }
  // At the price of 1 second per byte all choices cost 4, less 5 for the budget.
  Messages messages(network);
  const Tightened found = messages.tighten({0.0}, passes(200), {});
  CHECK(found.bound == Approx(11).epsilon(1e-3));
  CHECK(found.bound <= 11 + 1e-9);
  CHECK(found.prices[0] == Approx(1).epsilon(1e-2));
  AscentOptions kept = passes(200);
  kept.keepsPrices = true;
  const Tightened unpriced = Messages(network).tighten({0.0}, kept, {});
  CHECK(unpriced.bound == 4);
  CHECK(unpriced.prices == Prices{0.0});
}
