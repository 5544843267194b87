// Multiplicative weights on the rows of one space.
#include "compiler/solver/LeastPeak.h"

#include <algorithm>
#include <cmath>

namespace cleave::solver {

// The network with all permitted costs zero.
static Network withoutCosts(const Network &network) {
  Network free = network;
  auto clear = [](std::vector<double> &costs) {
    for (double &cost : costs)
      if (cost < kForbidden)
        cost = 0;
  };
  for (NetworkNode &node : free.nodes)
    clear(node.cost);
  std::map<const void *, CostTable> cleared; // by the table before
  for (NetworkEdge &edge : free.edges) {
    auto [entry, isNew] = cleared.try_emplace(edge.cost.identity());
    if (isNew) {
      std::vector<double> costs = edge.cost.entries();
      clear(costs);
      entry->second = std::move(costs);
    }
    edge.cost = entry->second;
  }
  return free;
}

int64_t leastPeak(const Network &network, int space, int iterations, int64_t maxTableEntries,
                  Search &search) {
  std::vector<size_t> rows;
  for (size_t r = 0; r < network.rows.size(); ++r)
    if (network.rows[r].space == space)
      rows.push_back(r);
  if (rows.empty())
    return 0;
  Network free = withoutCosts(network);
  Elimination elimination(free, maxTableEntries);
  NodeCosts costs;
  for (const NetworkNode &node : free.nodes)
    costs.push_back(node.cost);
  std::vector<double> logWeights(rows.size(), 0.0);
  int64_t proven = 0;
  double rate = 8;
  for (int k = 0; k < iterations; ++k) {
    double largest = *std::max_element(logWeights.begin(), logWeights.end());
    double sum = 0;
    Prices weights(network.rows.size(), 0.0);
    for (size_t r = 0; r < rows.size(); ++r)
      sum += weights[rows[r]] = std::exp(logWeights[r] - largest);
    double bound = 0;
    for (size_t r : rows) {
      weights[r] /= sum;
      bound += weights[r] * static_cast<double>(network.rows[r].taken);
    }
    bound += elimination.minimize(pricedCosts(free, costs, weights));
    if (bound == kForbidden)
      return INT64_MAX;
    proven = std::max(proven, static_cast<int64_t>(std::ceil(bound * (1 - 1e-12) - 1e-6)));
    std::vector<int> choices = elimination.decode();
    search.repair(choices, weights);
    std::vector<int64_t> bytes = network.usage(choices);
    int64_t peak = 1;
    for (size_t r : rows)
      peak = std::max(peak, bytes[r] + network.rows[r].taken);
    if (peak <= proven)
      break;
    for (size_t r = 0; r < rows.size(); ++r)
      logWeights[r] += rate * static_cast<double>(bytes[rows[r]] + network.rows[rows[r]].taken) /
                       static_cast<double>(peak);
    rate = std::max(0.2, rate * 0.97);
  }
  return proven;
}

} // namespace cleave::solver
