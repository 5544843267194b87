#include "compiler/solver/Fixing.h"

#include <algorithm>

namespace cleave::solver {

namespace {

// The least budget of any range of rows: a table of the least of 1, 2, 4, … rows from each one on.
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

Fixed fixByCost(const Network &network, const NodeCosts &least, double upper) {
  Fixed result{network, 0, 0};
  const LeastBudget budgets(network.rows);
  for (size_t v = 0; v < network.nodes.size(); ++v) {
    NetworkNode &node = result.network.nodes[v];
    std::vector<bool> drop(node.size());
    for (size_t i = 0; i < node.size(); ++i)
      drop[i] = least[v][i] >= upper;
    for (const Load &load : node.loads) {
      const int64_t budget = budgets.of(load.begin, load.end);
      for (size_t i = 0; i < node.size(); ++i)
        drop[i] = drop[i] || load.bytes[i] > budget;
    }
    for (size_t i = 0; i < node.size(); ++i)
      if (drop[i])
        node.cost[i] = kForbidden;
    result.dropped += std::count(drop.begin(), drop.end(), true);
    result.permitted += static_cast<int64_t>(node.size()) - 1;
  }
  return result;
}

Prices matchPrices(const Network &from, const Prices &prices, const Network &to) {
  Prices matched(to.rows.size(), 0.0);
  for (size_t r = 0, s = 0; s < matched.size(); ++s, ++r) {
    while (from.rows[r].space != to.rows[s].space || from.rows[r].time != to.rows[s].time)
      ++r;
    matched[s] = prices[r];
  }
  return matched;
}

} // namespace cleave::solver
