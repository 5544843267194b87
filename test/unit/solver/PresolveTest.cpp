// Each reduction on a network made for it, and all of them against enumeration.
#include "compiler/solver/Presolve.h"
#include "test/unit/solver/SmallNetworks.h"

#include <catch2/catch.hpp>

#include <set>

using namespace cleave::solver;

namespace {

// A node that takes bytes on row 0, so that it is not eliminated: choice i takes i.
NetworkNode heldNode(size_t choices) {
  NetworkNode node;
  node.loads = {{0, 1, {}}};
  for (size_t i = 0; i < choices; ++i) {
    node.cost.push_back(static_cast<double>(choices - i)); // fewer bytes cost more: none dominates
    node.loads[0].bytes.push_back(static_cast<int64_t>(i));
  }
  return node;
}

// A network with one row that its nodes can exceed.
Network heldNetwork(const std::vector<size_t> &choices) {
  Network network;
  network.rows = {{0, 0, 1, 0}};
  for (size_t count : choices)
    network.nodes.push_back(heldNode(count));
  return network;
}

// A table of costs that differ, none of them forbidden.
CostTable distinct(size_t rows, size_t columns, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> cost;
  for (size_t k = 0; k < rows * columns; ++k)
    cost.push_back(static_cast<double>(random() % 1000) / 1000);
  return cost;
}

// A table that permits only choice j % rows of one node with choice j of the other.
CostTable following(size_t rows, size_t columns) {
  std::vector<double> cost(rows * columns, kForbidden);
  for (size_t j = 0; j < columns; ++j)
    cost[j % rows * columns + j] = 0;
  return cost;
}

std::vector<RandomShape> shapes() {
  RandomShape plain, tight, followers;
  tight.spaces = 2;
  tight.maxUsages = 3;
  tight.budgetShare = 0.3;
  followers.edgesPerNode = 1.1;
  followers.forbiddenShare = 0.35;
  followers.budgetShare = 0.4;
  return {plain, tight, followers};
}

} // namespace

TEST_CASE("presolve keeps the optimum, and its choices expand to it") {
  int reduced = 0, contradictory = 0;
  for (const RandomShape &shape : shapes()) {
    std::mt19937 random(1);
    for (int k = 0; k < 80; ++k) {
      const Problem problem = randomProblem(shape, random);
      const Network network = networkOf(problem);
      const Presolve presolve(problem);
      INFO("problem " << k);
      if (presolve.contradiction() >= 0) {
        CHECK(leastWithoutRows(network) == kForbidden);
        ++contradictory;
        continue;
      }
      const Network &result = presolve.result();
      const double least = leastWithin(network);
      if (least == kForbidden)
        CHECK(leastWithin(result) == kForbidden);
      else
        CHECK(leastWithin(result) == Approx(least).margin(1e-9));
      reduced += result.nodes.size() < network.nodes.size();
    }
  }
  CHECK(reduced > 100);
  CHECK(contradictory > 10);
}

TEST_CASE("all choices of the reduced network cost, need and permit what their expansion does") {
  for (const RandomShape &shape : shapes()) {
    std::mt19937 random(2);
    for (int k = 0; k < 40; ++k) {
      const Problem problem = randomProblem(shape, random);
      const Network network = networkOf(problem);
      const Presolve presolve(problem);
      if (presolve.contradiction() >= 0)
        continue;
      const Network &result = presolve.result();
      forAllChoices(result, [&](const std::vector<int> &choices) {
        const std::vector<int> expanded = presolve.expand(choices);
        const double cost = result.totalCost(choices), whole = network.totalCost(expanded);
        const bool isEqual =
            cost == kForbidden ? whole == kForbidden : std::abs(cost - whole) < 1e-9;
        if (!isEqual || fitsRows(result, choices) != fitsRows(network, expanded))
          FAIL("problem " << k << ": " << cost << " for " << whole);
        for (size_t v = 0; v < choices.size(); ++v)
          if (expanded[presolve.originalNode(v)] != presolve.originalChoice(v, choices[v]))
            FAIL("problem " << k << ": node " << v << " expands to another choice");
      });
    }
  }
}

TEST_CASE("a projection costs no more, fits, and inverts the expansion") {
  int projected = 0;
  for (const RandomShape &shape : shapes()) {
    std::mt19937 random(3);
    for (int k = 0; k < 40; ++k) {
      const Network network = networkOf(randomProblem(shape, random));
      const Presolve presolve(network);
      if (presolve.contradiction() >= 0)
        continue;
      const Network &result = presolve.result();
      forAllChoices(network, [&](const std::vector<int> &choices) {
        const double cost = network.totalCost(choices);
        if (cost == kForbidden)
          return;
        const std::optional<std::vector<int>> reduced = presolve.project(choices);
        if (!reduced)
          FAIL("problem " << k << ": permitted choices have no projection");
        ++projected;
        if (result.totalCost(*reduced) > cost + 1e-9)
          FAIL("problem " << k << ": a projection costs more");
        if (fitsRows(network, choices) && !fitsRows(result, *reduced))
          FAIL("problem " << k << ": a projection takes more bytes");
        if (presolve.project(presolve.expand(*reduced)) != reduced)
          FAIL("problem " << k << ": a projection is not what its expansion projects to");
      });
    }
  }
  CHECK(projected > 1000);
}

TEST_CASE("a node without a permitted combination is named") {
  Network network = heldNetwork({2, 2, 2});
  join(network, 0, 1, distinct(2, 2, 1));
  join(network, 1, 2, std::vector<double>(4, kForbidden));
  const Presolve presolve(network);
  CHECK((presolve.contradiction() == 1 || presolve.contradiction() == 2));
}

TEST_CASE("choices that every neighbour's choice excludes are removed, one after the other") {
  // Choice 0 of node 0 permits none of node 1; then choice 1 of node 2 is left without a partner.
  Network network = heldNetwork({2, 3, 2});
  const double no = kForbidden;
  join(network, 0, 1, {no, no, no, 1, 2, no});
  join(network, 1, 2, {1, no, 2, no, 3, 4});
  const Presolve presolve(network);
  REQUIRE(presolve.contradiction() == -1);
  for (size_t v = 0; v < presolve.result().nodes.size(); ++v)
    for (size_t i = 0; i < presolve.result().nodes[v].size(); ++i) {
      CHECK_FALSE((presolve.originalNode(v) == 0 && presolve.originalChoice(v, i) == 0));
      CHECK_FALSE((presolve.originalNode(v) == 1 && presolve.originalChoice(v, i) == 2));
      CHECK_FALSE((presolve.originalNode(v) == 2 && presolve.originalChoice(v, i) == 1));
    }
}

TEST_CASE("a choice that another one replaces at no cost and in no more bytes is removed") {
  auto sizeWith = [](double cost, int64_t bytes, double pair) {
    Network network = heldNetwork({3, 2});
    network.nodes[0].cost[2] = cost;
    network.nodes[0].loads[0].bytes[2] = bytes;
    join(network, 0, 1, {0, 0, 0, 0, 0, pair});
    return Presolve(network).result().nodes[0].size();
  };
  // Choice 1 costs 2 seconds and takes 1 byte, alike with both neighbours.
  CHECK(sizeWith(1.5, 2, 0) == 3);
  CHECK(sizeWith(2.5, 2, 0) == 2);  // dearer and larger
  CHECK(sizeWith(2.5, 0, 0) == 2);  // removes choice 0, which costs 3 seconds
  CHECK(sizeWith(2.5, 2, -1) == 3); // cheaper with one neighbour's choice
  CHECK(sizeWith(2.5, 2, -0.4) == 2);
}

TEST_CASE("nodes without memory and with at most two neighbours are minimised over") {
  Network network = heldNetwork({3, 3});
  network.nodes.resize(5);
  for (int v = 2; v < 5; ++v)
    network.nodes[v].cost = {3, 1, 2};
  join(network, 0, 2, distinct(3, 3, 1));
  join(network, 1, 2, distinct(3, 3, 2));
  join(network, 1, 3, distinct(3, 3, 3));
  const Presolve presolve(network); // node 4 has no neighbour
  CHECK(presolve.result().nodes.size() == 2);
  CHECK(presolve.result().edges.size() == 1);
  CHECK(presolve.result().constant == 1);
  CHECK(leastWithin(presolve.result()) == Approx(leastWithin(network)));
}

// Whether a node of two choices without memory, between two nodes of these many choices, is
// eliminated.
static bool isEliminatedBetween(size_t rows, size_t columns) {
  Network network = heldNetwork({rows, columns});
  network.nodes.emplace_back();
  network.nodes[2].cost = {1, 2};
  join(network, 0, 2, distinct(rows, 2, 1));
  join(network, 1, 2, distinct(columns, 2, 2));
  return Presolve(network).result().nodes.size() == 2;
}

TEST_CASE("an elimination may enlarge the network by 4096 entries") {
  // The matrices before have 2 * (rows + columns) entries, the one after rows * columns.
  CHECK(isEliminatedBetween(66, 66));       // 4356 - 264 = 4092
  CHECK_FALSE(isEliminatedBetween(67, 67)); // 4489 - 268 = 4221
  CHECK(isEliminatedBetween(128, 34));      // 4352 - 324 = 4028
}

// Whether a node of two choices that follows one of `choices` is merged into it, next to a third
// node of `others`.
static bool isMerged(size_t choices, size_t others) {
  Network network = heldNetwork({2, choices, others});
  join(network, 0, 1, following(2, choices));
  join(network, 0, 2, distinct(2, others, 1));
  return Presolve(network).result().nodes.size() == 2;
}

TEST_CASE(
    "a follower is merged into its leader if its other matrices grow by at most 4096 entries") {
  CHECK(isMerged(4, 3));
  CHECK(isMerged(66, 64)); // 64 more rows of 64 entries
  CHECK_FALSE(isMerged(67, 64));
}

TEST_CASE("equal layers share the tables of their reductions") {
  // Pairs of held nodes with a node between them that is eliminated.
  std::vector<size_t> choices(12, 4);
  Network network = heldNetwork(choices);
  const CostTable left = distinct(4, 3, 1), right = distinct(4, 3, 2);
  for (int pair = 0; pair < 6; ++pair) {
    network.nodes.emplace_back();
    network.nodes.back().cost = {1, 2, 3};
    join(network, 2 * pair, 12 + pair, left);
    join(network, 2 * pair + 1, 12 + pair, right);
  }
  const Presolve presolve(network);
  std::set<const void *> tables;
  for (const NetworkEdge &edge : presolve.result().edges)
    tables.insert(edge.cost.identity());
  CHECK(presolve.result().edges.size() == 6);
  CHECK(tables.size() == 1);
}
