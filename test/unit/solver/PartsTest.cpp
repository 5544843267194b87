// Re-solving of parts: from poor solutions to the optimum, in parts and by threads.
#include "compiler/solver/Search.h"
#include "test/unit/solver/SmallNetworks.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace cleave::solver;

namespace {

// Pairs of nodes that agree, in a chain of weak edges; each pair saves seconds by choice 1 of both,
// which takes bytes. One change alone costs 100 seconds: descent cannot leave choice 0.
Network chainOfPairs(int pairs, int64_t budget, unsigned seed) {
  std::mt19937 random(seed);
  Network network;
  network.rows = {{0, 0, budget, 0}};
  for (int k = 0; k < pairs; ++k) {
    NetworkNode first, second;
    first.cost = {50, 50 - 1 - static_cast<double>(random() % 10)};
    second.cost = {0, 0};
    first.loads = {{0, 1, {0, 1 + static_cast<int64_t>(random() % 5)}}};
    network.nodes.push_back(std::move(first));
    network.nodes.push_back(std::move(second));
    join(network, 2 * k, 2 * k + 1, agreement(2, 100));
    if (k > 0)
      join(network, 2 * k - 1, 2 * k, agreement(2, 0.25));
  }
  return network;
}

std::vector<int> zeros(const Network &network) { return std::vector<int>(network.nodes.size(), 0); }

} // namespace

TEST_CASE("parts of a solution are re-solved until it is the best one") {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const Network network = chainOfPairs(7, 12, seed);
    const double least = leastWithin(network);
    Search search(network, seed);
    REQUIRE(search.offer(zeros(network)));
    REQUIRE(search.bestCost() > least);
    for (int k = 0; k < 60 && search.bestCost() > least; ++k) {
      const double before = search.bestCost();
      const bool isBetter = search.improve({0.5});
      CHECK(isBetter == (search.bestCost() < before));
      CHECK(search.bestCost() <= before);
      CHECK(fitsRows(network, search.best()));
    }
    CHECK(search.bestCost() == Approx(least));
  }
}

TEST_CASE("without a solution there are no parts") {
  const Network network = chainOfPairs(3, 5, 1);
  Search search(network, 1);
  CHECK_FALSE(search.improve({0}));
  CHECK(search.best().empty());
}

TEST_CASE("several parts at once give the same solution for every number of threads") {
  const Network network = chainOfPairs(60, 60, 2);
  auto solutionBy = [&](int threads) {
    Search search(network, 3);
    search.offer(zeros(network));
    for (int k = 0; k < 3; ++k)
      search.improve({0.5}, /*parts=*/4, threads);
    return search.best();
  };
  const std::vector<int> one = solutionBy(1);
  CHECK(network.totalCost(one) < network.totalCost(zeros(network)));
  CHECK(solutionBy(2) == one);
  CHECK(solutionBy(5) == one);
}

TEST_CASE("another seed chooses other parts") {
  const Network network = chainOfPairs(60, 60, 2);
  auto solutionOf = [&](uint64_t seed) {
    Search search(network, seed);
    search.offer(zeros(network));
    search.improve({0.5});
    return search.best();
  };
  CHECK(solutionOf(1) == solutionOf(1));
  CHECK(solutionOf(1) != solutionOf(2));
}

TEST_CASE("a guide leads to the nodes whose choices have the highest bounds") {
  // One pair far from all others; only it can be improved.
  constexpr int kPairs = 400;
  Network network = chainOfPairs(kPairs, 1 << 20, 1);
  const int wanted = 2 * 311;
  for (int v = 0; v < 2 * kPairs; v += 2)
    network.nodes[v].cost[1] = v == wanted ? 20 : 51;
  NodeCosts least;
  for (int v = 0; v < 2 * kPairs; ++v)
    least.push_back({v >= wanted - 40 && v <= wanted + 40 ? 1.0 : 0.0, 0.0});
  int guided = 0, unguided = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed)
    for (bool isGuided : {false, true}) {
      Search search(network, seed);
      search.offer(zeros(network));
      if (isGuided)
        search.guide(least);
      if (search.improve({0}))
        ++(isGuided ? guided : unguided);
    }
  CHECK(guided > unguided + 5);
}

TEST_CASE("a part exchanges the bytes that it has for others") {
  // Two pairs of which one fits; the solution has the one that saves less.
  Network network = chainOfPairs(2, 5, 1);
  network.nodes[0].cost[1] = 49;
  network.nodes[2].cost[1] = 47;
  network.nodes[0].loads[0].bytes[1] = network.nodes[2].loads[0].bytes[1] = 5;
  Search search(network, 1);
  REQUIRE(search.offer({1, 1, 0, 0}));
  REQUIRE(search.bestCost() > leastWithin(network));
  search.improve({0});
  CHECK(search.bestCost() == leastWithin(network));
}

// A chain of nodes that would save a little by choice 1, but pay 100 seconds wherever two of them
// differ; at every tenth of them two nodes save a second if both change.
static Network chainWithPairs(int nodes) {
  Network network;
  for (int v = 0; v < nodes; ++v) {
    network.nodes.emplace_back();
    network.nodes.back().cost = {0.1, 0};
    if (v > 0)
      join(network, v - 1, v, agreement(2, 100));
  }
  for (int v = 0; v < nodes; v += 10) {
    const int first = static_cast<int>(network.nodes.size());
    network.nodes.resize(first + 2);
    network.nodes[first].cost = {1, 0};
    network.nodes[first + 1].cost = {0, 0};
    join(network, v, first, std::vector<double>(4, 0.0));
    join(network, first, first + 1, agreement(2, 100));
  }
  return network;
}

TEST_CASE("a part pays for its edges to the nodes around it") {
  const Network network = chainWithPairs(1000);
  Search search(network, 1);
  search.offer(zeros(network));
  const double before = search.bestCost();
  int better = 0;
  for (int k = 0; k < 20; ++k)
    better += search.improve({});
  CHECK(better > 10);
  CHECK(search.bestCost() <= before - 20);
  for (int v = 0; v < 1000; ++v)
    CHECK(search.best()[v] == 0);
}

// Chains of nodes that save a second if all of them change.
static Network chains(int count, int length) {
  Network network;
  for (int chain = 0; chain < count; ++chain)
    for (int k = 0; k < length; ++k) {
      network.nodes.emplace_back();
      network.nodes.back().cost = {k == 0 ? 1.0 : 0.0, 0};
      const int v = static_cast<int>(network.nodes.size()) - 1;
      if (k > 0)
        join(network, v - 1, v, agreement(2, 100));
    }
  return network;
}

// How many of 400 first parts contain a chain as a whole, and so change it.
static int partsWithWholeChain(int length) {
  const Network network = chains(3000 / length, length);
  int whole = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    Search search(network, seed);
    search.offer(zeros(network));
    whole += search.improve({});
  }
  return whole;
}

TEST_CASE("parts have 8 to 240 nodes at first, around one to three of them") {
  // A part of n nodes has n / m of them around the first of m. Its size is 8 * 30^u; u and m are
  // random: it has n nodes or more in 1 - log(n / 8) / log(30) of all cases.
  for (int length : {10, 60}) {
    double expected = 0, variance = 0;
    for (int m = 1; m <= 3; ++m)
      expected += 400 * std::max(0.0, 1 - std::log(length * m / 8.0) / std::log(30.0)) / 3;
    variance = expected * (1 - expected / 400);
    INFO("chains of " << length << " nodes");
    CHECK(partsWithWholeChain(length) == Approx(expected).margin(2.5 * std::sqrt(variance)));
  }
}

TEST_CASE("parts that are solved exactly grow to 400 nodes") {
  // After 30 parts the largest one has 400 nodes: a part has 100 or more around the first of m in
  // 1 - log(100 m / 8) / log(400 / 8) of all cases.
  const Network network = chains(300, 100);
  Search search(network, 1);
  search.offer(zeros(network));
  for (int k = 0; k < 30; ++k)
    search.improve({});
  const double before = search.bestCost();
  const int parts = 200;
  for (int k = 0; k < parts; ++k)
    search.improve({});
  double expected = 0; // chains that change: one for each of m if the first has room
  for (int m = 1; m <= 3; ++m)
    expected += parts * m * std::max(0.0, 1 - std::log(100 * m / 8.0) / std::log(400 / 8.0)) / 3;
  const double changed = before - search.bestCost();
  CHECK(changed > 0.6 * expected);
  CHECK(changed < 1.4 * expected);
}

TEST_CASE("with a guide a part begins at the best of four random nodes") {
  // 20 pairs of which one can be improved; the bounds of its nodes are high.
  constexpr int kPairs = 20, kRuns = 400;
  Network network = chains(kPairs, 2);
  NodeCosts least(network.nodes.size(), {0.0, 0.0});
  for (size_t v = 0; v < network.nodes.size(); v += 2)
    network.nodes[v].cost = {0, 1};
  network.nodes[6].cost = {1, 0};
  least[6] = least[7] = {1, 0};
  int found = 0;
  for (uint64_t seed = 1; seed <= kRuns; ++seed) {
    Search search(network, seed);
    search.offer(zeros(network));
    search.guide(least);
    found += search.improve({});
  }
  // Around the best of four nodes, and around none, one or two random ones.
  const double missed = 1 - 1.0 / kPairs, first = std::pow(missed, 4);
  const double share = 1 - first * (1 + missed + missed * missed) / 3;
  CHECK(found == Approx(kRuns * share).margin(2.5 * std::sqrt(kRuns * share * (1 - share))));
}

TEST_CASE(
    "nodes that take memory at the same time come into one part, if 20 random ones have one") {
  // Two nodes that should exchange the only bytes, among 18 others.
  constexpr int kNodes = 20, kRuns = 2000;
  Network network;
  network.rows = {{0, 0, 5, 0}};
  network.nodes.resize(kNodes);
  NodeCosts least(kNodes, {0.0, 0.0});
  for (int v = 0; v < kNodes; ++v)
    network.nodes[v].cost = {0, 1};
  network.nodes[3].cost = {10, 9};
  network.nodes[8].cost = {10, 7};
  for (int v : {3, 8}) {
    network.nodes[v].loads = {{0, 1, {0, 5}}};
    least[v] = v == 3 ? std::vector<double>{0, 1} : std::vector<double>{1, 0};
  }
  std::vector<int> solution = zeros(network);
  solution[3] = 1;
  int found = 0;
  for (uint64_t seed = 1; seed <= kRuns; ++seed) {
    Search search(network, seed);
    search.offer(solution);
    REQUIRE(search.best() == solution);
    search.guide(least); // the part begins at one of the two
    found += search.improve({0});
  }
  const double begins = 1 - std::pow(1 - 2.0 / kNodes, 4), misses = std::pow(1 - 1.0 / kNodes, 20);
  const double share = begins * ((1 - misses) + (1 - misses * misses)) / 3; // one or two more nodes
  CHECK(found == Approx(kRuns * share).margin(3 * std::sqrt(kRuns * share * (1 - share))));
}

// How many of 30 chains change in 200 parts, after 200 other ones. Most parts have four nodes that
// agree: solving these exactly takes a table with an entry for all of their choices.
static int chainsBeside(size_t choices, int length) {
  Network network = chains(30, length);
  const CostTable agree = agreement(choices, 100);
  for (int four = 0; four < 450; ++four) {
    const int first = static_cast<int>(network.nodes.size());
    for (int v = first; v < first + 4; ++v) {
      network.nodes.push_back({std::vector<double>(choices, 0.0), {}, {}});
      for (int before = first; before < v; ++before)
        join(network, before, v, agree);
    }
  }
  Search search(network, 1);
  search.offer(zeros(network));
  for (int k = 0; k < 200; ++k)
    search.improve({});
  const double before = search.bestCost();
  for (int k = 0; k < 200; ++k)
    search.improve({});
  return static_cast<int>(before - search.bestCost());
}

TEST_CASE("parts shrink to 16 nodes where tables would exceed 2^14 entries") {
  CHECK(chainsBeside(11, 20) > 0); // 11^4 entries
  CHECK(chainsBeside(12, 20) == 0);
  CHECK(chainsBeside(12, 14) > 0);
}
