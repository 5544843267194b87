// Sweeps over the nodes in alternating directions.
#include "compiler/solver/Messages.h"

#include "compiler/solver/MinPlus.h"

#include <algorithm>
#include <cmath>

namespace cleave::solver {

// The messages, and passes over the nodes that change them.
class Sweeps {
public:
  explicit Sweeps(const Network &network) : network_(network), links_(network.nodes.size()) {
    size_t most = 0;
    for (const NetworkNode &node : network.nodes)
      most = std::max(most, node.size());
    size_t length = 0;
    for (const NetworkEdge &edge : network.edges) {
      first_.push_back(length);
      length += network.nodes[edge.from].size() + network.nodes[edge.to].size();
    }
    messages_.assign(length, 0.0);
    for (size_t v = 0; v < links_.size(); ++v)
      for (auto [w, e] : network.nodes[v].edgeTo)
        links_[v].push_back({w, e});
    argmin_.assign(network.nodes.size(), 0);
    decoded_.assign(network.nodes.size(), 0);
    negative_.resize(most);
    total_.reserve(most);
    conditioned_.reserve(most);
  }

  // One pass over all nodes, in rising or falling order. `decodes`: sets decoded(). Returns the sum
  // of the least entries of all nodes and edges after it. Those of an edge are 0 then: its end that
  // is visited last has taken them, and keeps them.
  double run(const NodeCosts &costs, bool isUpwards, bool decodes) {
    decodes_ = decodes;
    const int count = static_cast<int>(network_.nodes.size());
    double sum = 0;
    for (int k = 0; k < count; ++k)
      sum += visit(isUpwards ? k : count - 1 - k, costs, isUpwards);
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
      for (auto [w, e] : links_[v])
        addTo(result.nodes[v].cost.data(), message(e, static_cast<int>(v)), result.nodes[v].size());
    for (size_t e = 0; e < result.edges.size(); ++e) {
      NetworkEdge &edge = result.edges[e];
      const size_t columns = result.nodes[edge.to].size();
      const double *toFrom = message(static_cast<int>(e), edge.from);
      const double *toTo = message(static_cast<int>(e), edge.to);
      std::vector<double> cost = edge.cost.entries();
      for (size_t k = 0; k < cost.size(); ++k)
        cost[k] -= toFrom[k / columns] + toTo[k % columns];
      edge.cost = std::move(cost);
    }
    return result;
  }

private:
  // An edge of a node, and the node at its other end.
  struct Link {
    int node = 0;
    int edge = 0;
  };

  // The message from edge e to its end v, one entry per choice of v.
  double *message(int e, int v) { return messages_.data() + place(e, v); }
  const double *message(int e, int v) const { return messages_.data() + place(e, v); }
  size_t place(int e, int v) const {
    const NetworkEdge &edge = network_.edges[e];
    return first_[e] + (edge.from == v ? 0 : network_.nodes[edge.from].size());
  }

  // Per choice of v the least entry of edge e minus its message to the other end.
  void leastOver(int e, int v, double *least) {
    const NetworkEdge &edge = network_.edges[e];
    const size_t rows = network_.nodes[edge.from].size(), columns = network_.nodes[edge.to].size();
    if (edge.from == v) {
      const double *given = message(e, edge.to);
      for (size_t j = 0; j < columns; ++j)
        negative_[j] = -given[j];
      row_.tables[0] = edge.cost.data();
      row_.strides[0] = static_cast<int64_t>(columns);
      row_.choices = columns;
      row_.rows = static_cast<int64_t>(rows);
      leastPerRow(row_, negative_.data(), least);
    } else {
      leastPerColumn(edge.cost.data(), message(e, edge.from), rows, columns, least);
    }
  }

  // Collects the least entries of all edges of v and distributes them over the edges to later
  // nodes. Returns the least entry of what is left to v.
  double visit(int v, const NodeCosts &costs, bool isUpwards) {
    const size_t choices = costs[v].size();
    total_ = costs[v];
    if (decodes_)
      conditioned_ = costs[v];
    int ahead = 0, behind = 0;
    for (auto [w, e] : links_[v]) {
      double *given = message(e, v);
      leastOver(e, v, given);
      addTo(total_.data(), given, choices);
      const bool isAhead = (w > v) == isUpwards;
      ++(isAhead ? ahead : behind);
      for (size_t i = 0; decodes_ && i < choices; ++i)
        conditioned_[i] +=
            isAhead ? given[i] : network_.edgeCost(e, v, static_cast<int>(i), decoded_[w]);
    }
    auto place = [](const std::vector<double> &list, double value) {
      return static_cast<int>(std::find(list.begin(), list.end(), value) - list.begin());
    };
    const double least = leastOf(total_.data(), choices);
    argmin_[v] = place(total_, least);
    if (decodes_)
      decoded_[v] = place(conditioned_, leastOf(conditioned_.data(), choices));
    if (ahead == 0)
      return least;
    const double share = 1.0 / std::max(ahead, behind);
    for (double &seconds : total_)
      seconds *= -share;
    for (auto [w, e] : links_[v])
      if ((w > v) == isUpwards)
        addTo(message(e, v), total_.data(), choices);
    return ahead < behind ? (1 - share * ahead) * least : 0;
  }

  const Network &network_;
  std::vector<std::vector<Link>> links_; // per node
  std::vector<double> messages_;         // per edge: to `from`, then to `to`
  std::vector<size_t> first_;            // per edge its place in messages_
  std::vector<int> argmin_, decoded_;
  bool decodes_ = false;
  std::vector<double> negative_, total_, conditioned_; // reused by every visit
  TableRows row_{{nullptr}, {0}, 0, 0};
};

namespace {

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

  // A step after which the bound rises by `rise`, to first order. The cheapest choices of single
  // nodes change much from pass to pass: the direction is a mean of about ten.
  void step(const std::vector<int> &choices, double rise) {
    constexpr double kMomentum = 0.9;
    std::vector<int64_t> bytes = network_.usage(choices);
    double squares = 0;
    for (size_t r = 0; r < prices_.size(); ++r) {
      const Row &row = network_.rows[r];
      const double scale = std::max(1.0, static_cast<double>(row.budget + row.taken));
      direction_[r] =
          static_cast<double>(bytes[r] - row.budget) / scale + kMomentum * direction_[r];
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

Messages::Messages(const Network &network)
    : network_(network), sweeps_(std::make_unique<Sweeps>(network)) {
  for (const NetworkNode &node : network.nodes)
    costs_.push_back(node.cost);
}

Messages::~Messages() = default;

Network Messages::rewritten() const { return sweeps_->rewritten(); }

Tightened Messages::tighten(const Prices &start, const AscentOptions &options,
                            const Candidate &candidate) {
  constexpr int kPatience = 8;
  Sweeps &sweeps = *sweeps_;
  PriceSteps steps(network_, start);
  NodeCosts priced;
  Tightened result;
  result.prices = start;
  double factor = 0.5, upper = kForbidden;
  int idle = 0;
  for (; result.iterations < options.iterations && factor > 1e-4; ++result.iterations) {
    if (!network_.rows.empty())
      priced = pricedCosts(network_, costs_, steps.prices());
    const NodeCosts &now = network_.rows.empty() ? costs_ : priced;
    const bool decodes = candidate && result.iterations % 4 == 0;
    sweeps.run(now, true, decodes);
    if (decodes)
      upper = candidate(sweeps.decoded());
    const double bound = sweeps.run(now, false, false) - steps.budgetValue() + network_.constant;
    const bool rose =
        result.iterations == 0 || bound > result.bound + options.leastRise * std::abs(result.bound);
    if (bound > result.bound) {
      result.bound = bound;
      result.prices = steps.prices();
    }
    idle = rose ? 0 : idle + 1;
    if (isEnough(result.bound, upper, options.cutoff, options.acceptedGap, options.goodGap) ||
        (options.isLate && options.isLate()) ||
        (idle > 0 && (network_.rows.empty() || options.keepsPrices)))
      break;
    if (idle >= kPatience) {
      factor *= 0.7;
      idle = 0;
      steps.set(result.prices);
    }
    if (options.keepsPrices)
      continue;
    // Without a solution the distance is a guess from the best bound, since the last one may be far
    // off.
    double distance = upper < kForbidden ? upper - result.bound : 0.1 * std::abs(result.bound);
    steps.step(sweeps.argmin(), factor * std::max(distance, 1e-6 * std::abs(result.bound)));
  }
  return result;
}

} // namespace cleave::solver
