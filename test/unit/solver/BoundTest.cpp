// The ascent of prices against the dual of a memory row, and against enumeration.
#include "compiler/solver/Bound.h"
#include "test/unit/solver/SmallNetworks.h"

#include <catch2/catch.hpp>

#include <map>
#include <numeric>

using namespace cleave::solver;

namespace {

RandomShape boundShape() {
  RandomShape shape;
  shape.nodes = 6;
  shape.maxChoices = 3;
  shape.budgetShare = 0.35;
  shape.isInteger = false;
  return shape;
}

// Like boundShape(), but all bytes are needed at one time.
Network oneRowNetwork(std::mt19937 &random) {
  while (true) {
    Problem problem = randomProblem(boundShape(), random);
    for (Node &node : problem.nodes)
      for (Usage &usage : node.usages)
        usage = {0, 1, 0};
    Network network = networkOf(problem);
    if (network.rows.size() == 1 && leastWithin(network) < kForbidden)
      return network;
  }
}

// The best bound by one price: the least cost of a mean of two combinations that fits the budget.
double dualOf(const Network &network) {
  std::map<int64_t, double> leastAt; // per bytes the least cost
  forAllChoices(network, [&](const std::vector<int> &choices) {
    auto [entry, isNew] = leastAt.try_emplace(network.usage(choices)[0], kForbidden);
    entry->second = std::min(entry->second, network.totalCost(choices));
  });
  const int64_t budget = network.rows[0].budget;
  double dual = kForbidden;
  for (auto [few, dear] : leastAt)
    for (auto [many, cheap] : leastAt) {
      if (few > budget || dear == kForbidden)
        continue;
      dual = std::min(dual, dear);
      if (many > budget && cheap < kForbidden) {
        const double share = static_cast<double>(budget - few) / static_cast<double>(many - few);
        dual = std::min(dual, dear + share * (cheap - dear));
      }
    }
  return dual;
}

// Returns kForbidden, as if no solution were ever found, and counts the calls.
Candidate none(int &calls) {
  return [&calls](const std::vector<int> &) {
    ++calls;
    return kForbidden;
  };
}

// One node whose choices differ in bytes only, so that no price pays: the bound of the start stays
// the best one.
Network hopeless() {
  Network network;
  network.rows = {{0, 0, 1, 0}, {0, 1, 1, 0}};
  NetworkNode node;
  node.cost = {1, 1};
  node.loads = {{0, 1, {3, 0}}, {1, 2, {0, 3}}};
  network.nodes.push_back(std::move(node));
  return network;
}

} // namespace

TEST_CASE("prices raise the costs of the choices that take memory") {
  Network network;
  network.rows.resize(3);
  NetworkNode node;
  node.cost = {1, 2};
  node.loads = {{0, 2, {4, 0}}, {2, 3, {0, 5}}};
  network.nodes.push_back(std::move(node));
  CHECK(pricedCosts(network, {{1, 2}}, {10, 100, 1000})[0] ==
        std::vector<double>{1 + 4 * (10 + 100), 2 + 5 * 1000});
  CHECK(pricedCosts(network, {{7, kForbidden}}, {0, 0, 0})[0] ==
        std::vector<double>{7, kForbidden});
}

TEST_CASE("with one row the bound is the dual, and never above the optimum") {
  std::mt19937 random(1);
  double loose = 0;
  for (int k = 0; k < 60; ++k) {
    const Network network = oneRowNetwork(random);
    const double least = leastWithin(network), dual = dualOf(network);
    REQUIRE(dual <= least * (1 + 1e-12));
    Elimination elimination(network, 1 << 20);
    AscentOptions options;
    options.iterations = 300;
    const Ascent found = ascend(network, elimination, costsOf(network), {0.0}, options,
                                [&](const std::vector<int> &) { return least; });
    INFO("network " << k);
    CHECK(found.bound <= dual * (1 + 1e-9));
    CHECK(found.bound >= dual * (1 - 1e-3));
    CHECK(found.iterations <= 300);
    loose += dual < least * (1 - 1e-6);
  }
  CHECK(loose > 10); // else the dual would say nothing that the optimum does not
}

TEST_CASE("with several rows, and with split tables, the bound is never above the optimum") {
  std::mt19937 random(2);
  int binding = 0;
  for (int64_t entries : {int64_t(9), int64_t(1) << 20})
    for (int k = 0; k < 60; ++k) {
      const Network network = randomNetwork(boundShape(), random);
      const double least = leastWithin(network);
      if (least == kForbidden)
        continue;
      Elimination elimination(network, entries);
      const double before = elimination.minimize(costsOf(network)) + network.constant;
      int calls = 0;
      const Ascent found = ascend(network, elimination, costsOf(network),
                                  Prices(network.rows.size(), 0.0), AscentOptions(), none(calls));
      INFO("network " << k << ", " << entries << " entries");
      CHECK(found.bound <= least * (1 + 1e-9));
      CHECK(found.bound >= before);
      CHECK(calls == found.iterations);
      binding += found.bound > before * (1 + 1e-6);
      for (size_t v = 0; v < network.nodes.size(); ++v)
        CHECK(std::accumulate(found.mean[v].begin(), found.mean[v].end(), 0.0) == Approx(1));
      // The prices attain the bound.
      double stated = elimination.minimize(pricedCosts(network, costsOf(network), found.prices));
      for (size_t r = 0; r < network.rows.size(); ++r)
        stated -= found.prices[r] * static_cast<double>(network.rows[r].budget);
      CHECK(stated + network.constant == Approx(found.bound));
    }
  CHECK(binding > 20);
}

TEST_CASE("an ascent ends at once where no price can rise, and where nothing is permitted") {
  Network network = hopeless();
  network.rows[0].budget = network.rows[1].budget = 3;
  Elimination elimination(network, 100);
  int calls = 0;
  const Ascent found =
      ascend(network, elimination, costsOf(network), {0, 0}, AscentOptions(), none(calls));
  CHECK(found.iterations == 1);
  CHECK(found.bound == 1);
  const Ascent forbidden = ascend(network, elimination, {{kForbidden, kForbidden}}, {0, 0},
                                  AscentOptions(), none(calls));
  CHECK(forbidden.bound == kForbidden);
  CHECK(forbidden.iterations == 1);
}

TEST_CASE("an ascent ends when the bound is close to the best solution or the cutoff") {
  std::mt19937 random(3);
  const Network network = oneRowNetwork(random);
  Elimination elimination(network, 1 << 20);
  const double unpriced = elimination.minimize(costsOf(network)) + network.constant;
  auto iterationsTo = [&](double upper, AscentOptions options) {
    const Candidate found = [&](const std::vector<int> &) { return upper; };
    return ascend(network, elimination, costsOf(network), {0.0}, options, found).iterations;
  };
  AscentOptions options;
  CHECK(iterationsTo(2 * unpriced, options) > 1);
  CHECK(iterationsTo(unpriced * (1 + 0.9e-9), options) == 1);
  options.acceptedGap = 0.6;
  CHECK(iterationsTo(2 * unpriced, options) == 1);
  options.acceptedGap = 1e-9;
  options.goodGap = 0.6;
  CHECK(iterationsTo(2 * unpriced, options) == 1);
  options.goodGap = 0;
  options.cutoff = unpriced;
  CHECK(iterationsTo(2 * unpriced, options) == 1);
  options.cutoff = kForbidden;
  options.isLate = [] { return true; };
  CHECK(iterationsTo(2 * unpriced, options) == 1);
}

// One node without any way to save bytes but a dear one: at the price p the bound is 1 + 2 p.
static Network risingNetwork() {
  Network network;
  network.rows = {{0, 0, 1, 0}};
  NetworkNode node;
  node.cost = {1, 100};
  node.loads = {{0, 1, {3, 0}}};
  network.nodes.push_back(std::move(node));
  return network;
}

// The ascent of a network with one row from the price 0, with solutions of this cost known.
static Ascent ascendBelow(const Network &network, double upper, int iterations) {
  Elimination elimination(network, 100);
  AscentOptions options;
  options.iterations = iterations;
  return ascend(network, elimination, costsOf(network), {0.0}, options,
                [&](const std::vector<int> &) { return upper; });
}

TEST_CASE("a step aims 5 % beyond the best solution, or 10 % beyond the bound if there is none") {
  const Network network = risingNetwork();
  CHECK(ascendBelow(network, kForbidden, 2).bound == Approx(1.1).epsilon(1e-9));
  CHECK(ascendBelow(network, 3, 2).bound == Approx(1 + 1.05 * 2).epsilon(1e-9));
  // At least a millionth of the solution's cost.
  CHECK((ascendBelow(network, 1 + 1e-8, 2).bound - 1) == Approx(1.05e-6).epsilon(1e-3));
  Network free = network;
  free.nodes[0].cost = {0, 100};
  CHECK(ascendBelow(free, kForbidden, 2).bound == Approx(1e-12).epsilon(1e-3));
}

TEST_CASE("a direction keeps 0.4 of the one before") {
  // The excess is 2 bytes; the second direction has 2 + 0.4 * 2, and its step aims 10 % higher.
  const double second = 1.1 + 2 * (0.1 * 1.1) / (2 + 0.4 * 2);
  CHECK(ascendBelow(risingNetwork(), kForbidden, 3).bound == Approx(second).epsilon(1e-9));
}

TEST_CASE("a new choice counts for a tenth of the mean") {
  Network network = risingNetwork();
  network.nodes[0].cost = {1, 1.05}; // the first step makes the second choice cheaper
  CHECK(ascendBelow(network, kForbidden, 2).mean[0] == std::vector<double>{0.9, 0.1});
}

TEST_CASE("an ascent ends when steps of a ten-thousandth no longer raise the bound") {
  // The best price is 0, but the first choice exceeds the budget there: no step raises the bound.
  Network network = risingNetwork();
  network.nodes[0].cost = {1, 1};
  const Ascent found = ascendBelow(network, kForbidden, 1000);
  CHECK(found.bound == 1);
  // Six idle iterations shorten the steps to 0.6 of their length: 19 times to less than 1e-4.
  CHECK(std::pow(0.6, 19) < 1e-4);
  CHECK(std::pow(0.6, 18) > 1e-4);
  CHECK(found.iterations == 1 + 6 * 19);
}
