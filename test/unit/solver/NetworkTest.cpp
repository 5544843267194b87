// The network of a problem: equal costs, and the same choices fit.
#include "compiler/solver/Network.h"
#include "compiler/solver/Check.h"
#include "test/unit/solver/SmallNetworks.h"

#include <catch2/catch.hpp>

using namespace cleave::solver;

namespace {

RandomShape manyUsages() {
  RandomShape shape;
  shape.spaces = 2;
  shape.maxUsages = 3;
  shape.budgetShare = 0.4;
  shape.edgesPerNode = 2.5; // some edges are parallel
  return shape;
}

bool isWithinBudgets(const Problem &problem, const std::vector<int> &choices) {
  const std::vector<MemoryPeak> peaks = memoryPeaks(problem, choices);
  for (size_t s = 0; s < peaks.size(); ++s)
    if (peaks[s].bytes > problem.spaces[s].budget)
      return false;
  return true;
}

} // namespace

TEST_CASE("choices cost in a network what they cost in its problem") {
  std::mt19937 random(1);
  for (int k = 0; k < 30; ++k) {
    const Problem problem = randomProblem(manyUsages(), random);
    const Network network = networkOf(problem);
    for (const NetworkEdge &edge : network.edges) {
      CHECK(edge.from < edge.to);
      CHECK(network.nodes[edge.from].edgeTo.contains(edge.to));
    }
    forAllChoices(network, [&](const std::vector<int> &choices) {
      const double cost = network.totalCost(choices);
      if (cost != totalCost(problem, choices))
        FAIL("network " << k << ": " << cost << " for " << totalCost(problem, choices));
    });
  }
}

TEST_CASE("choices fit into the rows if and only if they fit into the budgets") {
  std::mt19937 random(2);
  int fitting = 0, exceeding = 0;
  for (int k = 0; k < 40; ++k) {
    const Problem problem = randomProblem(manyUsages(), random);
    Tables tables;
    const Network whole = buildNetwork(problem, tables), reduced = networkOf(problem);
    CHECK(reduced.rows.size() <= whole.rows.size());
    forAllChoices(whole, [&](const std::vector<int> &choices) {
      const bool fits = isWithinBudgets(problem, choices);
      ++(fits ? fitting : exceeding);
      for (const Network *network : {&whole, &reduced})
        if (fitsRows(*network, choices) != fits)
          FAIL("network " << k << (network == &whole ? ", all rows" : ", reduced rows"));
    });
  }
  CHECK(fitting > 1000);
  CHECK(exceeding > 1000);
}

TEST_CASE("rows, taken bytes and loads add up to the bytes of the problem") {
  std::mt19937 random(3);
  int64_t shared = 0;
  for (int k = 0; k < 40; ++k) {
    const Problem problem = randomProblem(manyUsages(), random);
    const Network network = networkOf(problem);
    std::vector<int> choices;
    for (const Node &node : problem.nodes)
      choices.push_back(static_cast<int>(random() % node.choices.size()));
    const std::vector<int64_t> bytes = network.usage(choices);
    REQUIRE(bytes.size() == network.rows.size());
    for (size_t r = 0; r < bytes.size(); ++r) {
      const Row &row = network.rows[r];
      int64_t inUse = 0;
      for (size_t v = 0; v < problem.nodes.size(); ++v)
        for (size_t u = 0; u < problem.nodes[v].usages.size(); ++u)
          if (const Usage &usage = problem.nodes[v].usages[u];
              usage.space == row.space && usage.begin <= row.time && row.time < usage.end)
            inUse += problem.nodes[v].choices[choices[v]].bytes[u];
      CHECK(row.taken + bytes[r] == inUse);
      CHECK(row.budget == problem.spaces[row.space].budget - row.taken);
      shared += row.taken;
    }
    for (const NetworkNode &node : network.nodes)
      for (size_t l = 0; l < node.loads.size(); ++l) {
        const std::vector<int64_t> &load = node.loads[l].bytes;
        CHECK(*std::min_element(load.begin(), load.end()) == 0);
        CHECK(*std::max_element(load.begin(), load.end()) > 0);
        if (l > 0)
          CHECK(node.loads[l - 1].end <= node.loads[l].begin);
      }
  }
  CHECK(shared > 100);
}

TEST_CASE("rows that no choices exceed are dropped, rows that all exceed stay") {
  Problem problem;
  problem.spaces.push_back({"device", 7});
  // Time 0: at most 7 bytes. Time 2: 2 to 8 bytes. Time 4: at least 9 bytes.
  problem.nodes.push_back({"a", {{0, 1, 0}, {2, 3, 0}}, {{"", 0, {7, 6}}, {"", 0, {0, 0}}}});
  problem.nodes.push_back({"b", {{2, 3, 0}, {4, 5, 0}}, {{"", 0, {2, 9}}, {"", 0, {2, 12}}}});
  const Network network = networkOf(problem);
  REQUIRE(network.rows.size() == 2);
  CHECK(network.rows[0].time == 2);
  CHECK(network.rows[0].taken == 2);
  CHECK(network.rows[0].budget == 5);
  CHECK(network.rows[1].time == 4);
  CHECK(network.rows[1].budget == -2);
}
