#include "test/unit/solver/SmallNetworks.h"

#include <algorithm>

namespace cleave::solver {

Network networkOf(const Problem &problem) {
  Tables tables;
  Network network = buildNetwork(problem, tables);
  reduceRows(network);
  return network;
}

// Whether each edge permits each choice of its ends, with some choice of the other end.
static bool permitsAll(const Network &network) {
  for (const NetworkEdge &edge : network.edges) {
    const size_t rows = network.nodes[edge.from].size(), columns = network.nodes[edge.to].size();
    std::vector<bool> inRow(rows), inColumn(columns);
    for (size_t k = 0; k < edge.cost.size(); ++k)
      if (edge.cost[k] < kForbidden)
        inRow[k / columns] = inColumn[k % columns] = true;
    if (std::count(inRow.begin(), inRow.end(), true) < static_cast<int>(rows) ||
        std::count(inColumn.begin(), inColumn.end(), true) < static_cast<int>(columns))
      return false;
  }
  return true;
}

Network randomNetwork(const RandomShape &shape, std::mt19937 &random) {
  while (true) {
    Network network = networkOf(randomProblem(shape, random));
    if (permitsAll(network) && leastWithoutRows(network) < kForbidden)
      return network;
  }
}

NodeCosts costsOf(const Network &network) {
  NodeCosts costs;
  for (const NetworkNode &node : network.nodes)
    costs.push_back(node.cost);
  return costs;
}

void forAllChoices(const Network &network,
                   const std::function<void(const std::vector<int> &)> &visit) {
  std::vector<int> choices(network.nodes.size(), 0);
  size_t v = 0;
  do {
    visit(choices);
    for (v = 0; v < choices.size(); ++v) {
      if (++choices[v] < static_cast<int>(network.nodes[v].size()))
        break;
      choices[v] = 0;
    }
  } while (v < choices.size());
}

bool fitsRows(const Network &network, const std::vector<int> &choices) {
  std::vector<int64_t> bytes(network.rows.size(), 0);
  for (size_t v = 0; v < choices.size(); ++v)
    for (const Load &load : network.nodes[v].loads)
      for (int r = load.begin; r < load.end; ++r)
        bytes[r] += load.bytes[choices[v]];
  for (size_t r = 0; r < bytes.size(); ++r)
    if (bytes[r] > network.rows[r].budget)
      return false;
  return true;
}

double leastCost(const Network &network,
                 const std::function<bool(const std::vector<int> &)> &isWanted) {
  double least = kForbidden;
  forAllChoices(network, [&](const std::vector<int> &choices) {
    if (isWanted(choices))
      least = std::min(least, network.totalCost(choices));
  });
  return least;
}

double leastWithin(const Network &network) {
  return leastCost(network,
                   [&](const std::vector<int> &choices) { return fitsRows(network, choices); });
}

double leastWithoutRows(const Network &network) {
  return leastCost(network, [](const std::vector<int> &) { return true; });
}

CostTable agreement(size_t choices, double seconds) {
  std::vector<double> cost(choices * choices, seconds);
  for (size_t i = 0; i < choices; ++i)
    cost[i * choices + i] = 0;
  return cost;
}

void join(Network &network, int from, int to, CostTable cost) {
  const int edge = static_cast<int>(network.edges.size());
  network.nodes[from].edgeTo.insert({to, edge});
  network.nodes[to].edgeTo.insert({from, edge});
  network.edges.push_back({from, to, std::move(cost)});
}

} // namespace cleave::solver
