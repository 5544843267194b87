// Tables shared by equal parts of a network: computed once, with the results of separate ones.
#include "compiler/solver/Elimination.h"
#include "compiler/solver/Presolve.h"
#include "compiler/solver/Solver.h"

#include <catch2/catch.hpp>

#include <random>
#include <set>

using namespace cleave::solver;

// Nodes of one layer, all joined with each other.
static constexpr int kNodes = 4;

// `layers` equal layers; with `joined` the last node of each and the first of the next share an
// edge. Every node takes memory while its layer runs and until the layers in front of it have run
// backwards.
static Problem layeredProblem(int layers, bool joined) {
  constexpr int kChoices = 6;
  std::mt19937 random(7);
  auto table = [&] {
    std::vector<double> costs;
    for (int k = 0; k < kChoices * kChoices; ++k)
      costs.push_back(static_cast<double>(random() % 97));
    return CostTable(std::move(costs));
  };
  std::vector<CostTable> inside, own;
  for (int k = 0; k < kNodes * kNodes; ++k)
    inside.push_back(table());
  for (int k = 0; k < kNodes; ++k)
    own.push_back(table());
  const CostTable between = table();
  Problem problem;
  problem.spaces = {{"device", int64_t(layers) * kNodes * 3}};
  for (int layer = 0; layer < layers; ++layer)
    for (int k = 0; k < kNodes; ++k) {
      Node node{"", {{layer, 2 * layers - layer, 0}}, {}};
      for (int i = 0; i < kChoices; ++i)
        node.choices.push_back({"", own[k][i], {kChoices - i}});
      problem.nodes.push_back(std::move(node));
      for (int before = 0; before < k; ++before)
        problem.edges.push_back(
            {layer * kNodes + before, layer * kNodes + k, inside[before * kNodes + k]});
      if (joined && k == 0 && layer > 0)
        problem.edges.push_back({layer * kNodes, layer * kNodes - 1, between});
    }
  return problem;
}

TEST_CASE("copies of a list of choices share them until one changes") {
  const ChoiceList choices = {{"a", 1, {}}, {"b", 2, {}}};
  ChoiceList copy = choices;
  CHECK(copy.identity() == choices.identity());
  copy.forbid(1);
  CHECK(copy[1].cost == kForbidden);
  CHECK(choices[1].cost == 2);
}

TEST_CASE("a space that all choices fit into together has no rows") {
  Problem problem = layeredProblem(2, true);
  const int64_t most = int64_t(2) * kNodes * 6;
  Tables tables;
  problem.spaces[0].budget = most;
  CHECK(buildNetwork(problem, tables).rows.empty());
  problem.spaces[0].budget = most - 1;
  CHECK(!buildNetwork(problem, tables).rows.empty());
}

TEST_CASE("shared tables give the solution that separate ones give") {
  for (int64_t budget : {int64_t(1000), int64_t(40)}) {
    Problem shared = layeredProblem(8, true);
    shared.spaces[0].budget = budget;
    Problem separate = shared;
    for (Edge &edge : separate.edges)
      edge.cost = edge.cost.entries();
    REQUIRE(separate == shared);
    SolveOptions options;
    options.maxIterations = 30;
    auto first = solve(shared, options), second = solve(separate, options);
    REQUIRE(first.isOk());
    REQUIRE(second.isOk());
    CHECK(first->choices == second->choices);
    CHECK(first->cost == second->cost);
    CHECK(first->lowerBound == second->lowerBound);
  }
}

// The additions of one evaluation of the bound of `layers` equal layers without memory.
static int64_t workOf(int layers, bool areShared) {
  Problem problem = layeredProblem(layers, false);
  for (Edge &edge : problem.edges)
    if (!areShared)
      edge.cost = edge.cost.entries();
  for (Node &node : problem.nodes)
    node.usages[0].end = 0;
  Tables tables;
  Network network = buildNetwork(problem, tables);
  Elimination elimination(network, 1 << 20);
  NodeCosts costs;
  for (const NetworkNode &node : network.nodes)
    costs.push_back(node.cost);
  const double bound = elimination.minimize(costs);
  CHECK(bound == network.totalCost(elimination.decode()));
  return elimination.work();
}

TEST_CASE("equal layers are eliminated once") {
  CHECK(workOf(20, true) == workOf(1, true));
  CHECK(workOf(20, false) == 20 * workOf(1, false));
}

TEST_CASE("presolve keeps tables shared") {
  auto tablesOf = [](int layers) {
    Problem problem = layeredProblem(layers, true);
    problem.spaces[0].budget = 1 << 20;
    Presolve presolve(problem);
    std::set<const void *> distinct;
    for (const NetworkEdge &edge : presolve.result().edges)
      distinct.insert(edge.cost.identity());
    return std::pair(presolve.result().edges.size(), distinct.size());
  };
  auto [fewEdges, few] = tablesOf(6);
  auto [manyEdges, many] = tablesOf(30);
  CHECK(few > 0);
  CHECK(manyEdges > fewEdges);
  CHECK(many == few);
}

TEST_CASE("derived tables are computed once") {
  Tables tables;
  const CostTable matrix = {1, 2, 3, 4, 5, 6};
  const CostTable turned = tables.transposed(matrix, 2, 3);
  CHECK(turned == CostTable{1, 4, 2, 5, 3, 6});
  CHECK(tables.transposed(matrix, 2, 3).identity() == turned.identity());
  CHECK(tables.transposed(turned, 3, 2).identity() == matrix.identity());
  const CostTable rows = tables.rows(matrix, 3, {1, 0, 1});
  CHECK(rows == CostTable{4, 5, 6, 1, 2, 3, 4, 5, 6});
  CHECK(tables.rows(matrix, 3, {1, 0, 1}).identity() == rows.identity());
  CHECK(tables.sum(matrix, turned) == CostTable{2, 6, 5, 9, 8, 12});
  CHECK(tables.number(std::vector<double>{1, 2}) == tables.number(std::vector<double>{1, 2}));
  CHECK(tables.number(std::vector<double>{1, 2}) != tables.number(std::vector<double>{2, 1}));
}
