// Search::adopt copies regions of another solution into the best one.
#include "compiler/solver/Search.h"
#include "test/unit/solver/SmallNetworks.h"

#include <catch2/catch.hpp>

using namespace cleave::solver;

namespace {

// Pairs of nodes that agree: choice 1 of both saves gains[k] seconds and takes bytes[k] (may be
// negative: it frees them), but one of them alone costs 100 seconds, so that no descent finds it.
Network pairsNetwork(const std::vector<double> &gains, const std::vector<int64_t> &bytes,
                     int64_t budget) {
  Network network;
  network.rows = {{0, 0, budget, 0}};
  for (size_t k = 0; k < gains.size(); ++k) {
    NetworkNode first, second;
    first.cost = {50, 50 - gains[k]};
    second.cost = {0, 0};
    first.loads = {{0, 1, {std::max<int64_t>(0, -bytes[k]), std::max<int64_t>(0, bytes[k])}}};
    network.nodes.push_back(std::move(first));
    network.nodes.push_back(std::move(second));
    join(network, static_cast<int>(2 * k), static_cast<int>(2 * k + 1), agreement(2, 100));
  }
  return network;
}

std::vector<int> all(const Network &network, int choice) {
  return std::vector<int>(network.nodes.size(), choice);
}

// Per pair the choice of the best solution, after the first choices took over from the second.
std::vector<int> adopted(const Network &network, const Prices &prices) {
  Search search(network, 1);
  REQUIRE(search.offer(all(network, 0)));
  const double before = search.bestCost();
  const bool isBetter = search.adopt(all(network, 1), prices);
  CHECK(isBetter == (search.bestCost() < before));
  CHECK(search.bestCost() == Approx(network.totalCost(search.best())));
  CHECK(fitsRows(network, search.best()));
  std::vector<int> ofPairs;
  for (size_t v = 0; v < network.nodes.size(); v += 2) {
    CHECK(search.best()[v] == search.best()[v + 1]);
    ofPairs.push_back(search.best()[v]);
  }
  return ofPairs;
}

} // namespace

TEST_CASE("regions that save seconds are taken over, others are not") {
  CHECK(adopted(pairsNetwork({3, -2, 0, 1}, {0, 0, 0, 0}, 10), {0}) ==
        std::vector<int>{1, 0, 0, 1});
  CHECK(adopted(pairsNetwork({-3, -2}, {0, 0}, 10), {0}) == std::vector<int>{0, 0});
}

TEST_CASE("of regions that do not all fit those with the most seconds per byte come first") {
  CHECK(adopted(pairsNetwork({4, 5, 3}, {4, 10, 2}, 10), {1}) == std::vector<int>{1, 0, 1});
}

TEST_CASE("a region that frees bytes makes room for another one") {
  CHECK(adopted(pairsNetwork({4, 1}, {4, -4}, 4), {1}) == std::vector<int>{1, 1});
}

TEST_CASE("without a solution nothing is taken over") {
  const Network network = pairsNetwork({3}, {0}, 10);
  Search search(network, 1);
  CHECK_FALSE(search.adopt(all(network, 1), {0}));
  CHECK(search.best().empty());
}

TEST_CASE("on random networks a solution never becomes worse and always fits") {
  RandomShape shape;
  shape.nodes = 7;
  shape.spaces = 2;
  shape.budgetShare = 0.5;
  shape.forbiddenShare = 0.02;
  std::mt19937 random(4);
  int improved = 0;
  for (int k = 0; k < 300; ++k) {
    const Network network = randomNetwork(shape, random);
    Search search(network, 1);
    for (int n = 0; n < 20; ++n) {
      std::vector<int> choices;
      for (const NetworkNode &node : network.nodes)
        choices.push_back(static_cast<int>(random() % node.size()));
      if (network.totalCost(choices) == kForbidden)
        continue;
      if (search.best().empty()) {
        search.offer(choices);
        continue;
      }
      const double before = search.bestCost();
      const bool isBetter = search.adopt(choices, Prices(network.rows.size(), 0.1));
      CHECK(isBetter == (search.bestCost() < before));
      CHECK(search.bestCost() <= before);
      CHECK(search.bestCost() == Approx(network.totalCost(search.best())));
      CHECK(fitsRows(network, search.best()));
      improved += isBetter;
    }
  }
  CHECK(improved > 20);
}
