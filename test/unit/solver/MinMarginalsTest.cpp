// Lower bounds per choice against exhaustive search, and what follows from them.
#include "compiler/solver/MinMarginals.h"
#include "compiler/solver/Check.h"
#include "compiler/solver/Elimination.h"
#include "test/unit/solver/RandomProblem.h"

#include <catch2/catch.hpp>

#include <set>

using namespace cleave;
using namespace cleave::solver;

// The least cost of all combinations, in any memory, that take choice i of node v.
static double leastWith(Problem problem, size_t v, size_t i) {
  for (size_t j = 0; j < problem.nodes[v].choices.size(); ++j)
    if (j != i)
      problem.nodes[v].choices.forbid(j);
  return bruteForce(problem);
}

TEST_CASE("min-marginals are the least costs with each choice, or bounds on them") {
  RandomShape shape;
  shape.nodes = 5;
  shape.budgetShare = 1;
  shape.edgesPerNode = 2;
  std::mt19937 random(5);
  int inexact = 0;
  for (int k = 0; k < 60; ++k) {
    Problem problem = randomProblem(shape, random);
    SolveOptions small;
    small.maxTableEntries = 4;
    small.maxWork = 1; // large tables are not affordable
    Result<MinMarginals> exact = minMarginals(problem), bounds = minMarginals(problem, small);
    REQUIRE((exact && bounds));
    REQUIRE(exact->isExact);
    inexact += !bounds->isExact;
    for (size_t v = 0; v < problem.nodes.size(); ++v)
      for (size_t i = 0; i < problem.nodes[v].choices.size(); ++i) {
        const double least = leastWith(problem, v, i);
        INFO("problem " << k << ", node " << v << ", choice " << i);
        if (least == kForbidden)
          CHECK(exact->least[v][i] == kForbidden);
        else
          CHECK(exact->least[v][i] == Approx(least).margin(1e-9));
        CHECK(bounds->least[v][i] <= (least == kForbidden ? kForbidden : least + 1e-9));
        CHECK(bounds->least[v][i] >= bounds->bound - 1e-9);
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
    Problem problem = randomProblem(shape, random);
    Tables tables;
    Network network = buildNetwork(problem, tables);
    NodeCosts costs;
    for (const NetworkNode &node : network.nodes)
      costs.push_back(node.cost);
    Elimination elimination(network, k % 2 ? 4 : 1 << 20);
    exact.insert(elimination.isExact());
    if (elimination.minimize(costs) == kForbidden)
      continue;
    const Marginals found = elimination.marginals(true);
    for (size_t e = 0; e < network.edges.size(); ++e)
      for (size_t entry = 0; entry < network.edges[e].cost.size(); ++entry) {
        const NetworkEdge &edge = network.edges[e];
        const size_t columns = network.nodes[edge.to].size();
        Problem fixed = problem;
        for (size_t i = 0; i < network.nodes[edge.from].size(); ++i)
          if (i != entry / columns)
            fixed.nodes[edge.from].choices.forbid(i);
        const double least = leastWith(fixed, edge.to, entry % columns);
        INFO("problem " << k << ", edge " << e << ", entry " << entry);
        if (elimination.isExact() && least < kForbidden)
          CHECK(found.pairs[e][entry] == Approx(least).margin(1e-9));
        else
          CHECK(found.pairs[e][entry] <= least + 1e-9);
      }
  }
  CHECK(exact.size() == 2);
}

TEST_CASE("within any budget the best solution takes only choices that are kept below its cost") {
  RandomShape shape;
  shape.nodes = 7;
  shape.budgetShare = 0.3;
  std::mt19937 random(6);
  int dropped = 0;
  for (int k = 0; k < 60; ++k) {
    Problem problem = randomProblem(shape, random);
    const double best = bruteForce(problem);
    if (best == kForbidden)
      continue;
    const auto kept = keptBelow(*minMarginals(problem), best);
    for (size_t v = 0; v < problem.nodes.size(); ++v)
      for (size_t i = 0; i < problem.nodes[v].choices.size(); ++i)
        if (!kept[v][i]) {
          problem.nodes[v].choices.forbid(i);
          ++dropped;
        }
    CHECK(bruteForce(problem) == Approx(best));
  }
  CHECK(dropped > 100);
}
