// The bound of messages against enumeration, and what they keep of a network.
#include "compiler/solver/Messages.h"
#include "test/unit/solver/SmallNetworks.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

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

// One node and one row, whose budget the first choice exceeds by two bytes.
static Network oneNodeNetwork(double first, double second) {
  Network network;
  network.rows = {{0, 0, 1, 0}};
  NetworkNode node;
  node.cost = {first, second};
  node.loads = {{0, 1, {3, 0}}};
  network.nodes.push_back(std::move(node));
  return network;
}

static Tightened tightenBelow(const Network &network, double upper, int iterations) {
  return Messages(network).tighten({0.0}, passes(iterations),
                                   [&](const std::vector<int> &) { return upper; });
}

TEST_CASE("a first step of prices covers half of the distance to the best solution") {
  // At the price p the bound is 1 + 2 p.
  const Network network = oneNodeNetwork(1, 100);
  CHECK(tightenBelow(network, 3, 2).bound == Approx(1 + 0.5 * 2).epsilon(1e-9));
  // Without a solution the distance is a tenth of the bound; it is at least a millionth.
  CHECK(tightenBelow(network, kForbidden, 2).bound == Approx(1 + 0.5 * 0.1).epsilon(1e-9));
  CHECK((tightenBelow(network, 1 + 1e-8, 2).bound - 1) == Approx(0.5e-6).epsilon(1e-3));
  // The second direction has 2 + 0.9 * 2 bytes.
  const double second = 1.05 + 2 * (0.5 * 0.1 * 1.05) / (2 + 0.9 * 2);
  CHECK(tightenBelow(network, kForbidden, 3).bound == Approx(second).epsilon(1e-9));
}

TEST_CASE("passes end when steps of a ten-thousandth no longer raise the bound") {
  const Tightened found = tightenBelow(oneNodeNetwork(1, 1), kForbidden, 1000);
  CHECK(found.bound == 1);
  // Eight idle passes shorten the steps from 0.5 to 0.7 of their length: 24 times to below 1e-4.
  CHECK(0.5 * std::pow(0.7, 24) < 1e-4);
  CHECK(0.5 * std::pow(0.7, 23) > 1e-4);
  CHECK(found.iterations == 1 + 8 * 24);
}

TEST_CASE("every fourth pass decodes choices") {
  for (int iterations : {1, 4, 5, 8, 9}) {
    int calls = 0;
    const Network network = oneNodeNetwork(1, 1);
    Messages(network).tighten({0.0}, passes(iterations), [&](const std::vector<int> &) {
      ++calls;
      return kForbidden;
    });
    CHECK(calls == (iterations + 3) / 4);
  }
}

TEST_CASE(
    "without rows the passes end with the first one that raises the bound by less than 1e-7") {
  std::mt19937 random(6);
  int ended = 0;
  for (int k = 0; k < 60; ++k) {
    const Network network = randomNetwork(shapeOf(2.5, 1), random);
    Messages messages(network);
    double before = messages.tighten({}, passes(1), {}).bound;
    int expected = 1;
    for (bool rises = true; rises && expected < 200; ++expected) {
      const double bound = messages.tighten({}, passes(1), {}).bound;
      rises = bound > before * (1 + 1e-7);
      before = std::max(before, bound);
    }
    INFO("network " << k);
    // The last pass is the idle one; it does not count.
    CHECK(Messages(network).tighten({}, passes(200), {}).iterations == expected - 1);
    ended += expected > 5;
  }
  CHECK(ended > 5);
}
