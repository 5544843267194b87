#include "compiler/solver/Fixing.h"

#include <algorithm>

namespace cleave::solver {

namespace {

// The least budget of any range of rows: the least of 1, 2, 4, … rows from each one on.
class LeastBudget {
public:
  explicit LeastBudget(const std::vector<Row> &rows) {
    least_.emplace_back();
    for (const Row &row : rows)
      least_[0].push_back(row.budget);
    for (size_t width = 1; 2 * width <= rows.size(); width *= 2) {
      const std::vector<int64_t> &half = least_.back();
      std::vector<int64_t> whole;
      for (size_t r = 0; r + 2 * width <= rows.size(); ++r)
        whole.push_back(std::min(half[r], half[r + width]));
      least_.push_back(std::move(whole));
    }
  }
  int64_t of(int begin, int end) const {
    int level = 0;
    while ((2 << level) <= end - begin)
      ++level;
    return std::min(least_[level][begin], least_[level][end - (1 << level)]);
  }

private:
  std::vector<std::vector<int64_t>> least_;
};

} // namespace

static double shareOf(int64_t part, int64_t all) {
  return all ? static_cast<double>(part) / static_cast<double>(all) : 0;
}

static void dropChoices(const Network &network, const NodeCosts &least, double upper,
                        Drops &drops) {
  int64_t dropped = 0, all = 0;
  const LeastBudget budgets(network.rows);
  for (size_t v = 0; v < network.nodes.size(); ++v) {
    const NetworkNode &node = network.nodes[v];
    std::vector<bool> drop(node.size());
    for (size_t i = 0; i < node.size(); ++i)
      drop[i] = least[v][i] >= upper;
    for (const Load &load : node.loads) {
      const int64_t budget = budgets.of(load.begin, load.end);
      for (size_t i = 0; i < node.size(); ++i)
        drop[i] = drop[i] || load.bytes[i] > budget;
    }
    dropped += std::count(drop.begin(), drop.end(), true);
    all += static_cast<int64_t>(node.size()) - 1;
    drops.choices.push_back(std::move(drop));
  }
  drops.choiceShare = shareOf(dropped, all);
}

static void dropPairs(const Network &network, const std::vector<std::vector<double>> &least,
                      double upper, Drops &drops) {
  int64_t dropped = 0, all = 0;
  for (size_t e = 0; e < network.edges.size(); ++e) {
    const NetworkEdge &edge = network.edges[e];
    const size_t columns = network.nodes[edge.to].size();
    std::vector<bool> drop(edge.cost.size());
    for (size_t k = 0; k < drop.size(); ++k) {
      if (edge.cost[k] == kForbidden || drops.choices[edge.from][k / columns] ||
          drops.choices[edge.to][k % columns])
        continue;
      drop[k] = least[e][k] >= upper;
      dropped += drop[k];
      ++all;
    }
    drops.pairs.push_back(std::move(drop));
  }
  drops.pairShare = shareOf(dropped, all);
}

bool Drops::leavesNone() const {
  return std::any_of(choices.begin(), choices.end(), [](const std::vector<bool> &drop) {
    return std::find(drop.begin(), drop.end(), false) == drop.end();
  });
}

Marginals lowerBounds(const Network &network, Elimination &elimination, const NodeCosts &costs,
                      const Prices &prices, bool withPairs) {
  elimination.minimize(pricedCosts(network, costs, prices));
  Marginals least = elimination.marginals(withPairs);
  double constant = network.constant;
  for (size_t r = 0; r < prices.size(); ++r)
    constant -= prices[r] * static_cast<double>(network.rows[r].budget);
  for (auto *list : {&least.choices, &least.pairs})
    for (std::vector<double> &bounds : *list)
      for (double &bound : bounds)
        bound += constant;
  return least;
}

Drops dropsAbove(const Network &network, const Marginals &least, double upper) {
  Drops drops;
  dropChoices(network, least.choices, upper, drops);
  if (!least.pairs.empty())
    dropPairs(network, least.pairs, upper, drops);
  return drops;
}

Network without(const Drops &drops, const Network &network) {
  Network result = network;
  for (size_t v = 0; v < result.nodes.size(); ++v)
    for (size_t i = 0; i < drops.choices[v].size(); ++i)
      if (drops.choices[v][i])
        result.nodes[v].cost[i] = kForbidden;
  for (size_t e = 0; e < drops.pairs.size(); ++e) {
    const std::vector<bool> &drop = drops.pairs[e];
    if (std::find(drop.begin(), drop.end(), true) == drop.end())
      continue;
    std::vector<double> cost = result.edges[e].cost.entries();
    for (size_t k = 0; k < cost.size(); ++k)
      if (drop[k])
        cost[k] = kForbidden;
    result.edges[e].cost = std::move(cost);
  }
  return result;
}

Prices matchPrices(const std::vector<Row> &from, const Prices &prices, const std::vector<Row> &to) {
  auto place = [](const Row &row) { return std::pair(row.space, row.time); };
  Prices matched(to.size(), 0.0);
  for (size_t r = 0, s = 0; s < to.size() && r < from.size();) {
    if (place(from[r]) == place(to[s]))
      matched[s++] = prices[r++];
    else if (place(from[r]) < place(to[s]))
      ++r;
    else
      ++s;
  }
  return matched;
}

} // namespace cleave::solver
