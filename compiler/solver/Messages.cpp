// Sweeps over the nodes in alternating directions.
#include "compiler/solver/Messages.h"

#include "compiler/solver/MinPlus.h"

#include <algorithm>
#include <cmath>

namespace cleave::solver {

namespace {

class Sweeps {
public:
  explicit Sweeps(const Network &network) : network_(network) {
    messages_.resize(2 * network.edges.size());
    for (size_t e = 0; e < network.edges.size(); ++e) {
      messages_[2 * e].assign(network.nodes[network.edges[e].from].size(), 0.0);
      messages_[2 * e + 1].assign(network.nodes[network.edges[e].to].size(), 0.0);
    }
    argmin_.assign(network.nodes.size(), 0);
    decoded_.assign(network.nodes.size(), 0);
  }

  // One pass over all nodes, in rising or falling order.
  void run(const NodeCosts &costs, bool isUpwards) {
    const int count = static_cast<int>(network_.nodes.size());
    for (int k = 0; k < count; ++k)
      visit(isUpwards ? k : count - 1 - k, costs, isUpwards);
  }

  // The sum of the least entries of all nodes and edges.
  double bound(const NodeCosts &costs) const {
    double sum = 0;
    for (size_t v = 0; v < network_.nodes.size(); ++v) {
      std::vector<double> total = costs[v];
      for (auto [w, e] : network_.nodes[v].edgeTo)
        add(total, message(e, static_cast<int>(v)), 1);
      sum += *std::min_element(total.begin(), total.end());
    }
    for (size_t e = 0; e < network_.edges.size(); ++e) {
      std::vector<double> least = leastOver(static_cast<int>(e), network_.edges[e].from);
      add(least, messages_[2 * e], -1);
      sum += *std::min_element(least.begin(), least.end());
    }
    return sum;
  }

  // Per node the choice that was cheapest when it was last visited.
  const std::vector<int> &argmin() const { return argmin_; }
  // The same, but edges to nodes visited earlier in the pass count with the choice taken there.
  const std::vector<int> &decoded() const { return decoded_; }

  // The network with the messages added.
  Network rewritten() const {
    Network result = network_;
    for (size_t v = 0; v < result.nodes.size(); ++v)
      for (auto [w, e] : network_.nodes[v].edgeTo)
        add(result.nodes[v].cost, message(e, static_cast<int>(v)), 1);
    for (size_t e = 0; e < result.edges.size(); ++e) {
      NetworkEdge &edge = result.edges[e];
      const size_t columns = result.nodes[edge.to].size();
      std::vector<double> cost = edge.cost.entries();
      for (size_t k = 0; k < cost.size(); ++k)
        cost[k] -= messages_[2 * e][k / columns] + messages_[2 * e + 1][k % columns];
      edge.cost = std::move(cost);
    }
    return result;
  }

private:
  static void add(std::vector<double> &to, const std::vector<double> &what, double factor) {
    for (size_t i = 0; i < to.size(); ++i)
      to[i] += factor * what[i];
  }

  // The message from edge e to its end v.
  const std::vector<double> &message(int e, int v) const {
    return messages_[2 * e + (network_.edges[e].from == v ? 0 : 1)];
  }
  std::vector<double> &message(int e, int v) {
    return messages_[2 * e + (network_.edges[e].from == v ? 0 : 1)];
  }

  // Per choice of v the least entry of edge e minus its message to the other end.
  std::vector<double> leastOver(int e, int v) const {
    const NetworkEdge &edge = network_.edges[e];
    const size_t rows = network_.nodes[edge.from].size(), columns = network_.nodes[edge.to].size();
    if (edge.from == v) {
      std::vector<double> own = messages_[2 * e + 1], least(rows);
      for (double &given : own)
        given = -given;
      leastPerRow({{edge.cost.data()},
                   {static_cast<int64_t>(columns)},
                   columns,
                   static_cast<int64_t>(rows)},
                  own.data(), least.data());
      return least;
    }
    std::vector<double> least(columns);
    leastPerColumn(edge.cost.data(), messages_[2 * e].data(), rows, columns, least.data());
    return least;
  }

  // Collects the least entries of all edges of v and distributes them over the edges to later
  // nodes.
  void visit(int v, const NodeCosts &costs, bool isUpwards) {
    const NetworkNode &node = network_.nodes[v];
    std::vector<double> total = costs[v], conditioned = costs[v];
    int ahead = 0, behind = 0;
    for (auto [w, e] : node.edgeTo) {
      std::vector<double> &given = message(e, v);
      given = leastOver(e, v);
      add(total, given, 1);
      const bool isAhead = (w > v) == isUpwards;
      ++(isAhead ? ahead : behind);
      for (size_t i = 0; i < conditioned.size(); ++i)
        conditioned[i] +=
            isAhead ? given[i] : network_.edgeCost(e, v, static_cast<int>(i), decoded_[w]);
    }
    auto least = [](const std::vector<double> &list) {
      return static_cast<int>(std::min_element(list.begin(), list.end()) - list.begin());
    };
    argmin_[v] = least(total);
    decoded_[v] = least(conditioned);
    if (ahead == 0)
      return;
    const double share = 1.0 / std::max(ahead, behind);
    for (auto [w, e] : node.edgeTo)
      if ((w > v) == isUpwards)
        add(message(e, v), total, -share);
  }

  const Network &network_;
  std::vector<std::vector<double>> messages_; // per edge: to `from`, then to `to`
  std::vector<int> argmin_, decoded_;
};

// The prices, and their steps along the excess over the budgets.
class PriceSteps {
public:
  PriceSteps(const Network &network, const Prices &start)
      : network_(network), prices_(start), direction_(start.size(), 0.0) {}

  const Prices &prices() const { return prices_; }
  void set(const Prices &prices) { prices_ = prices; }

  double budgetValue() const {
    double sum = 0;
    for (size_t r = 0; r < prices_.size(); ++r)
      sum += prices_[r] * static_cast<double>(network_.rows[r].budget);
    return sum;
  }

  // A step after which the bound rises by `rise`, to first order.
  void step(const std::vector<int> &choices, double rise) {
    std::vector<int64_t> bytes = network_.usage(choices);
    double squares = 0;
    for (size_t r = 0; r < prices_.size(); ++r) {
      const Row &row = network_.rows[r];
      const double scale = std::max(1.0, static_cast<double>(row.budget + row.taken));
      direction_[r] = static_cast<double>(bytes[r] - row.budget) / scale + 0.5 * direction_[r];
      if (prices_[r] <= 0 && direction_[r] < 0)
        direction_[r] = 0;
      squares += direction_[r] * direction_[r];
    }
    if (squares == 0)
      return;
    for (size_t r = 0; r < prices_.size(); ++r) {
      const Row &row = network_.rows[r];
      const double scale = std::max(1.0, static_cast<double>(row.budget + row.taken));
      prices_[r] = std::max(0.0, prices_[r] + rise / squares * direction_[r] / scale);
    }
  }

private:
  const Network &network_;
  Prices prices_;
  std::vector<double> direction_;
};

} // namespace

Tightened tighten(const Network &network, const Prices &start, const AscentOptions &options,
                  const Candidate &candidate) {
  constexpr int kPatience = 8;
  Sweeps sweeps(network);
  PriceSteps steps(network, start);
  NodeCosts costs;
  for (const NetworkNode &node : network.nodes)
    costs.push_back(node.cost);
  Tightened result;
  result.prices = start;
  double factor = 0.5, upper = kForbidden;
  int idle = 0;
  for (; result.iterations < options.iterations && factor > 1e-4; ++result.iterations) {
    NodeCosts priced = pricedCosts(network, costs, steps.prices());
    sweeps.run(priced, true);
    if (result.iterations % 4 == 0)
      upper = candidate(sweeps.decoded());
    sweeps.run(priced, false);
    double bound = sweeps.bound(priced) - steps.budgetValue() + network.constant;
    const bool rose = bound > result.bound + 1e-7 * std::abs(result.bound);
    if (bound > result.bound) {
      result.bound = bound;
      result.prices = steps.prices();
    }
    idle = rose ? 0 : idle + 1;
    if (isEnough(result.bound, upper, options.cutoff, options.acceptedGap) ||
        (options.isLate && options.isLate()))
      break;
    if (idle >= kPatience) {
      factor *= 0.7;
      idle = 0;
      steps.set(result.prices);
    }
    // Without a solution the distance is a guess from the best bound, since the last one may be far
    // off.
    double distance = upper < kForbidden ? upper - result.bound : 0.1 * std::abs(result.bound);
    steps.step(sweeps.argmin(), factor * std::max(distance, 1e-6 * std::abs(result.bound)));
  }
  result.network = sweeps.rewritten();
  return result;
}

} // namespace cleave::solver
