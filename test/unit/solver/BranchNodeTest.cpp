// Visits of single tree nodes: what they bound, find, and leave to their children.
#include "compiler/solver/BranchNode.h"
#include "compiler/solver/Messages.h"
#include "compiler/solver/Presolve.h"
#include "test/unit/solver/SmallNetworks.h"

#include <catch2/catch.hpp>

using namespace cleave::solver;

namespace {

// Nodes that save seconds by bytes, in about equal proportion, and have half of the bytes that they
// could take: the bound mixes choices of few and of many bytes.
Network tightNetwork(std::mt19937 &random) {
  Network network;
  int64_t most = 0;
  for (int v = 0; v < 7; ++v) {
    NetworkNode node;
    const int64_t bytes = 5 + static_cast<int64_t>(random() % 10);
    for (int64_t share : {bytes, bytes / 2, int64_t(0)})
      node.cost.push_back(static_cast<double>(bytes - share) +
                          static_cast<double>(random() % 1000) / 500);
    node.loads = {{0, 1, {bytes, bytes / 2, 0}}};
    network.nodes.push_back(std::move(node));
    most += bytes;
    for (int w = v - 2; w < v; ++w)
      if (w >= 0) {
        std::vector<double> cost;
        for (int k = 0; k < 9; ++k)
          cost.push_back(random() % 20 == 0 ? kForbidden
                                            : static_cast<double>(random() % 1000) / 400);
        join(network, w, v, std::move(cost));
      }
  }
  network.rows = {{0, 0, most / 2, 0}};
  return network;
}

ChoiceSet nothing(const Network &network) {
  ChoiceSet dropped;
  for (const NetworkNode &node : network.nodes)
    dropped.emplace_back(node.size());
  return dropped;
}

BranchNode nodeOf(const Network &network, ChoiceSet dropped) {
  return {-kForbidden, std::make_shared<const ChoiceSet>(std::move(dropped)),
          std::make_shared<const Prices>(network.rows.size(), 0.0)};
}

bool isLeft(const ChoiceSet &dropped, const std::vector<int> &choices) {
  for (size_t v = 0; v < choices.size(); ++v)
    if (dropped[v][choices[v]])
      return false;
  return true;
}

// Drops a random choice of some nodes that have more.
ChoiceSet randomDrops(const Network &network, std::mt19937 &random) {
  ChoiceSet dropped = nothing(network);
  for (std::vector<bool> &list : dropped)
    if (list.size() > 1 && random() % 3 == 0)
      list[random() % list.size()] = true;
  return dropped;
}

} // namespace

TEST_CASE("a visit bounds its solutions from below and loses none that is better") {
  std::mt19937 random(1);
  int better = 0, divided = 0, closed = 0;
  for (int k = 0; k < 200; ++k) {
    const Network network = tightNetwork(random);
    const ChoiceSet dropped = randomDrops(network, random);
    const double least = leastCost(network, [&](const std::vector<int> &choices) {
      return isLeft(dropped, choices) && fitsRows(network, choices);
    });
    const double upper = k % 2 ? kForbidden : least * 1.1;
    BranchOptions options;
    options.sweeps = options.iterations = 1 + k % 5;
    if (k % 3 == 0) {
      options.maxExactWork = 0;
      options.maxTableEntries = 9;
    }
    const Visited visited = visit(network, nodeOf(network, dropped), upper, options);
    INFO("network " << k);
    double known = upper;
    if (visited.solution) {
      CHECK(isLeft(dropped, *visited.solution));
      CHECK(fitsRows(network, *visited.solution));
      known = std::min(known, network.totalCost(*visited.solution));
    }
    double left = known; // of the children
    for (const ChoiceSet &child : visited.children)
      left = std::min(left, leastCost(network, [&](const std::vector<int> &choices) {
                        return isLeft(child, choices) && fitsRows(network, choices);
                      }));
    if (least < known * (1 - 1e-9)) { // else the bound is of solutions that there are not
      ++better;
      CHECK(visited.bound <= least * (1 + 1e-9));
      CHECK(left == Approx(least));
    }
    divided += visited.children.size() == 2;
    closed += visited.children.empty();
    CHECK(visited.prices.size() == network.rows.size());
  }
  CHECK(better > 10);
  CHECK(divided > 20);
  CHECK(closed > 20);
}

TEST_CASE("children share no solution, and each has fewer choices than its parent") {
  std::mt19937 random(2);
  BranchOptions options;
  options.sweeps = options.iterations = 1;
  int divided = 0;
  for (int k = 0; k < 80; ++k) {
    const Network network = tightNetwork(random);
    const Visited visited = visit(network, nodeOf(network, nothing(network)), kForbidden, options);
    if (visited.children.size() != 2)
      continue;
    ++divided;
    int shared = 0;
    std::array<int, 2> count{};
    forAllChoices(network, [&](const std::vector<int> &choices) {
      const bool isFirst = isLeft(visited.children[0], choices);
      const bool isSecond = isLeft(visited.children[1], choices);
      shared += isFirst && isSecond;
      count[0] += isFirst;
      count[1] += isSecond;
    });
    CHECK(shared == 0);
    CHECK(count[0] > 0);
    CHECK(count[1] > 0);
  }
  CHECK(divided > 10);
}

TEST_CASE("a visit ends where its bound reaches the best solution or the cutoff") {
  std::mt19937 random(3);
  for (int k = 0; k < 40; ++k) {
    const Network network = tightNetwork(random);
    const double unpriced = leastWithoutRows(network);
    const BranchNode node = nodeOf(network, nothing(network));
    BranchOptions options;
    CHECK(visit(network, node, unpriced, options).children.empty());
    options.cutoff = unpriced;
    const Visited visited = visit(network, node, kForbidden, options);
    CHECK(visited.children.empty());
    CHECK(visited.bound >= unpriced * (1 - 1e-9));
  }
}

TEST_CASE("a node without permitted choices is bounded by the limit") {
  std::mt19937 random(4);
  const Network network = tightNetwork(random);
  ChoiceSet dropped = nothing(network);
  dropped[0].assign(dropped[0].size(), true);
  const Visited visited = visit(network, nodeOf(network, dropped), 7, BranchOptions());
  CHECK(visited.bound == 7);
  CHECK(visited.children.empty());
  CHECK_FALSE(visited.solution);
}

// A square of nodes, too wide for exact elimination, whose bound rises for long.
static Network squareNetwork(unsigned seed) {
  std::mt19937 random(seed);
  constexpr int kSide = 10;
  Network network;
  for (int v = 0; v < kSide * kSide; ++v) {
    network.nodes.emplace_back();
    for (int i = 0; i < 5; ++i)
      network.nodes.back().cost.push_back(static_cast<double>(random() % 1000) / 1000);
    for (int w : {v % kSide > 0 ? v - 1 : -1, v - kSide}) {
      std::vector<double> cost;
      for (int k = 0; w >= 0 && k < 25; ++k)
        cost.push_back(static_cast<double>(random() % 1000) / 100);
      if (w >= 0)
        join(network, w, v, std::move(cost));
    }
  }
  return network;
}

TEST_CASE("a visit of a wide network bounds it by 60 passes of messages and split tables") {
  int risen = 0;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const Network network = squareNetwork(seed);
    const Presolve presolve(network);
    auto boundBy = [&](int passes) {
      AscentOptions options;
      options.iterations = passes;
      Messages messages(presolve.result());
      const Tightened tightened = messages.tighten({}, options, {});
      const Network tight = messages.rewritten();
      Elimination elimination(tight, 25);
      return std::max(tightened.bound, elimination.minimize(costsOf(tight)) + tight.constant);
    };
    BranchOptions options;
    options.maxExactWork = 0;
    options.maxTableEntries = 25;
    options.iterations = 1;
    const double bound =
        visit(network, nodeOf(network, nothing(network)), kForbidden, options).bound;
    INFO("seed " << seed);
    CHECK(bound == Approx(boundBy(60)).epsilon(1e-9));
    risen += boundBy(60) > boundBy(30) * (1 + 1e-6);
  }
  CHECK(risen > 0);
}
