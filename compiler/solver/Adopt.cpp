// What the best solution takes over from other choices: regions in which they differ, one by one.
#include "compiler/solver/Search.h"

#include <algorithm>

namespace cleave::solver {

namespace {

// Nodes that change together, since edges join them.
struct Region {
  std::vector<int> nodes;
  double gain = 0; // seconds that the change saves; -kForbidden if it is not permitted
  double paid = 0; // seconds: the price of the bytes by which memory grows
};

// The connected regions of nodes whose choices differ.
std::vector<Region> regionsOf(const Network &network, const std::vector<int> &choices,
                              const std::vector<int> &other) {
  std::vector<Region> regions;
  std::vector<bool> isTaken(network.nodes.size(), false);
  for (int first = 0; first < static_cast<int>(choices.size()); ++first) {
    if (isTaken[first] || choices[first] == other[first])
      continue;
    std::vector<int> nodes = {first};
    isTaken[first] = true;
    for (size_t k = 0; k < nodes.size(); ++k)
      for (auto [w, e] : network.nodes[nodes[k]].edgeTo)
        if (!isTaken[w] && choices[w] != other[w]) {
          isTaken[w] = true;
          nodes.push_back(w);
        }
    regions.push_back({std::move(nodes)});
  }
  return regions;
}

// Sets gain and price of a region.
void appraise(const Network &network, const std::vector<int> &choices,
              const std::vector<int> &other, const std::vector<double> &priceBefore,
              Region &region) {
  for (int v : region.nodes) {
    const NetworkNode &node = network.nodes[v];
    const int now = choices[v], then = other[v];
    region.gain += node.cost[now] - node.cost[then];
    for (auto [w, e] : node.edgeTo)
      if (choices[w] == other[w] || v < w) // else counted at the other end
        region.gain +=
            network.edgeCost(e, v, now, choices[w]) - network.edgeCost(e, v, then, other[w]);
    for (const Load &load : node.loads)
      region.paid += (priceBefore[load.end] - priceBefore[load.begin]) *
                     static_cast<double>(load.bytes[then] - load.bytes[now]);
  }
}

} // namespace

// Whether a row on which one of the nodes takes memory exceeds its budget.
bool Search::exceeds(const State &state, const std::vector<int> &nodes) const {
  for (int v : nodes)
    for (const Load &load : network_.nodes[v].loads)
      for (int r = load.begin; r < load.end; ++r)
        if (state.bytes[r] > network_.rows[r].budget)
          return true;
  return false;
}

bool Search::adopt(const std::vector<int> &other, const Prices &prices) {
  if (best_.empty())
    return false;
  std::vector<double> priceBefore(prices.size() + 1, 0.0);
  for (size_t r = 0; r < prices.size(); ++r)
    priceBefore[r + 1] = priceBefore[r] + prices[r];
  std::vector<Region> regions = regionsOf(network_, best_, other);
  for (Region &region : regions)
    appraise(network_, best_, other, priceBefore, region);
  std::erase_if(regions, [](const Region &region) { return !(region.gain > 0); });
  // Those that free memory first, then the most seconds per price of bytes.
  std::stable_sort(regions.begin(), regions.end(), [](const Region &a, const Region &b) {
    if ((a.paid > 0) != (b.paid > 0))
      return a.paid <= 0;
    return a.paid > 0 && a.gain * b.paid > b.gain * a.paid;
  });
  State state{best_, network_.usage(best_)};
  bool isChanged = false;
  for (const Region &region : regions) {
    for (int v : region.nodes)
      apply(state, v, other[v]);
    if (exceeds(state, region.nodes))
      for (int v : region.nodes)
        apply(state, v, best_[v]);
    else
      isChanged = true;
  }
  const double before = bestCost_;
  return isChanged && offer(std::move(state.choices)) && bestCost_ < before;
}

} // namespace cleave::solver
