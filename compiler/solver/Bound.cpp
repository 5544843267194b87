// The subgradient loop.
#include "compiler/solver/Bound.h"

#include <algorithm>
#include <cmath>

namespace cleave::solver {

NodeCosts pricedCosts(const Network &network, const NodeCosts &costs, const Prices &prices) {
  std::vector<double> before(prices.size() + 1, 0.0); // sums of the prices of the rows before
  for (size_t r = 0; r < prices.size(); ++r)
    before[r + 1] = before[r] + prices[r];
  NodeCosts priced = costs;
  for (size_t v = 0; v < network.nodes.size(); ++v)
    for (const Load &load : network.nodes[v].loads) {
      double price = before[load.end] - before[load.begin];
      if (price > 0)
        for (size_t i = 0; i < priced[v].size(); ++i)
          priced[v][i] += price * static_cast<double>(load.bytes[i]);
    }
  return priced;
}

namespace {

// Bytes per row of fractional choices.
std::vector<double> meanUsage(const Network &network, const NodeCosts &fractions) {
  std::vector<double> bytes(network.rows.size() + 1, 0.0);
  for (size_t v = 0; v < network.nodes.size(); ++v)
    for (const Load &load : network.nodes[v].loads) {
      double sum = 0;
      for (size_t i = 0; i < fractions[v].size(); ++i)
        sum += fractions[v][i] * static_cast<double>(load.bytes[i]);
      bytes[load.begin] += sum;
      bytes[load.end] -= sum;
    }
  for (size_t r = 1; r < bytes.size(); ++r)
    bytes[r] += bytes[r - 1];
  bytes.pop_back();
  return bytes;
}

NodeCosts indicator(const Network &network, const std::vector<int> &choices) {
  NodeCosts fractions(network.nodes.size());
  for (size_t v = 0; v < fractions.size(); ++v) {
    fractions[v].assign(network.nodes[v].size(), 0.0);
    fractions[v][choices[v]] = 1;
  }
  return fractions;
}

// The state of one ascent.
class Subgradient {
public:
  Subgradient(const Network &network, Elimination &elimination, const NodeCosts &costs,
              const Prices &start)
      : network_(network), elimination_(elimination), costs_(costs), prices_(start),
        direction_(start.size(), 0.0) {
    best_.prices = start;
    for (const Row &row : network.rows)
      scale_.push_back(std::max(1.0, static_cast<double>(row.budget + row.taken)));
  }

  // Evaluates the bound at the prices and sets `choices`. Returns whether the bound rose.
  bool evaluate(std::vector<int> &choices) {
    double bound = elimination_.minimize(pricedCosts(network_, costs_, prices_));
    for (size_t r = 0; r < prices_.size(); ++r)
      bound -= prices_[r] * static_cast<double>(network_.rows[r].budget);
    value_ = bound + network_.constant;
    ++best_.iterations;
    if (bound == kForbidden) {
      best_.bound = kForbidden;
      return true;
    }
    choices = elimination_.decode();
    NodeCosts fractions =
        elimination_.isExact() ? indicator(network_, choices) : elimination_.support();
    addToMean(fractions);
    std::vector<double> bytes = meanUsage(network_, fractions);
    excess_.resize(bytes.size());
    for (size_t r = 0; r < bytes.size(); ++r)
      excess_[r] = (bytes[r] - static_cast<double>(network_.rows[r].budget)) / scale_[r];
    if (value_ <= best_.bound)
      return false;
    best_.bound = value_;
    best_.prices = prices_;
    return true;
  }

  // Whether no price can rise and no positive price can fall: the bound is the best possible.
  bool isStationary() const {
    for (size_t r = 0; r < prices_.size(); ++r)
      if (excess_[r] > 0 || (prices_[r] > 0 && excess_[r] < 0))
        return false;
    return true;
  }

  void step(double factor, double upper) {
    double squares = 0;
    for (size_t r = 0; r < prices_.size(); ++r) {
      direction_[r] = excess_[r] + 0.4 * direction_[r];
      if (prices_[r] <= 0 && direction_[r] < 0)
        direction_[r] = 0;
      squares += direction_[r] * direction_[r];
    }
    if (squares == 0)
      return;
    double length = factor * (target(upper) - value_) / squares;
    for (size_t r = 0; r < prices_.size(); ++r)
      prices_[r] = std::max(0.0, prices_[r] + length * direction_[r] / scale_[r]);
  }

  void returnToBest() {
    prices_ = best_.prices;
    std::fill(direction_.begin(), direction_.end(), 0.0);
  }

  Ascent take() { return std::move(best_); }
  double bound() const { return best_.bound; }

private:
  double target(double upper) const {
    if (upper == kForbidden)
      return best_.bound + 0.1 * std::abs(best_.bound) + 1e-12;
    return best_.bound + 1.05 * std::max(upper - best_.bound, 1e-6 * std::abs(upper));
  }

  void addToMean(const NodeCosts &fractions) {
    if (best_.mean.empty()) {
      best_.mean = fractions;
      return;
    }
    for (size_t v = 0; v < fractions.size(); ++v)
      for (size_t i = 0; i < fractions[v].size(); ++i)
        best_.mean[v][i] += 0.1 * (fractions[v][i] - best_.mean[v][i]);
  }

  const Network &network_;
  Elimination &elimination_;
  const NodeCosts &costs_;
  Prices prices_;
  std::vector<double> direction_, excess_, scale_;
  double value_ = 0;
  Ascent best_;
};

} // namespace

Ascent ascend(const Network &network, Elimination &elimination, const NodeCosts &costs,
              const Prices &start, const AscentOptions &options, const Candidate &candidate) {
  constexpr int kPatience = 6;
  Subgradient method(network, elimination, costs, start);
  double factor = 1.0;
  int idle = 0;
  std::vector<int> choices;
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    bool rose = method.evaluate(choices);
    if (method.bound() == kForbidden)
      break;
    double upper = candidate(choices);
    if (isEnough(method.bound(), upper, options.cutoff, options.acceptedGap, options.goodGap) ||
        method.isStationary() || (options.isLate && options.isLate()))
      break;
    idle = rose ? 0 : idle + 1;
    if (idle >= kPatience) {
      factor *= 0.6;
      idle = 0;
      method.returnToBest();
      if (factor < 1e-4)
        break;
      // The excess is that of the last prices; the next evaluation recomputes it.
      continue;
    }
    method.step(factor, upper);
  }
  return method.take();
}

} // namespace cleave::solver
