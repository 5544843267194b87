// A visit: presolve, bound, drop, split.
#include "compiler/solver/BranchNode.h"

#include "compiler/solver/Fixing.h"
#include "compiler/solver/Messages.h"
#include "compiler/solver/Presolve.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace cleave::solver {

namespace {

// A way to divide the choices of a node.
struct Split {
  int node = -1;
  std::vector<bool> isSecond; // per choice
};

// The average bytes of fractional choices.
double average(const std::vector<double> &fractions, const std::vector<int64_t> &bytes) {
  return std::inner_product(bytes.begin(), bytes.end(), fractions.begin(), 0.0);
}

double deviation(const std::vector<double> &fractions, const std::vector<int64_t> &bytes) {
  const double mean = average(fractions, bytes);
  double sum = 0;
  for (size_t i = 0; i < bytes.size(); ++i)
    sum += fractions[i] * std::abs(static_cast<double>(bytes[i]) - mean);
  return sum;
}

// Whether both sides have choices that are left.
bool divides(const Split &split, const std::vector<bool> &drop) {
  bool has[2] = {false, false};
  for (size_t i = 0; i < drop.size(); ++i)
    has[split.isSecond[i]] |= !drop[i];
  return has[0] && has[1];
}

// The load whose bytes deviate most from their mean in the subproblems of the bound, in seconds by
// the prices: choices below the mean, and those above. No node if all are alike.
Split splitByBytes(const Network &network, const Prices &prices, const NodeCosts &mean,
                   const ChoiceSet &dropped) {
  std::vector<double> before(prices.size() + 1, 0.0); // sums of the prices of the rows before
  std::partial_sum(prices.begin(), prices.end(), before.begin() + 1);
  Split best;
  double most = 0;
  for (size_t v = 0; v < network.nodes.size(); ++v)
    for (const Load &load : network.nodes[v].loads) {
      const double seconds =
          (before[load.end] - before[load.begin]) * deviation(mean[v], load.bytes);
      if (seconds <= most)
        continue;
      Split split{static_cast<int>(v), {}};
      for (int64_t bytes : load.bytes)
        split.isSecond.push_back(static_cast<double>(bytes) > average(mean[v], load.bytes));
      if (divides(split, dropped[v])) {
        most = seconds;
        best = std::move(split);
      }
    }
  return best;
}

// The node about which the subproblems agreed least: the choice they took most often, and all
// others. No node if one combination is left.
Split splitByChoice(const Network &network, const NodeCosts &mean, const ChoiceSet &dropped) {
  Split best;
  double least = 2;
  for (size_t v = 0; v < network.nodes.size(); ++v) {
    size_t choice = 0;
    double share = -1;
    for (size_t i = 0; i < mean[v].size(); ++i)
      if (!dropped[v][i] && mean[v][i] > share) {
        choice = i;
        share = mean[v][i];
      }
    Split split{static_cast<int>(v), std::vector<bool>(mean[v].size(), false)};
    split.isSecond[choice] = true;
    if (share < least && divides(split, dropped[v])) {
      least = share;
      best = std::move(split);
    }
  }
  return best;
}

// What is left of the root's network, presolved.
class Rest {
public:
  Rest(const Network &root, const ChoiceSet &dropped, const BranchOptions &options)
      : options_(options), presolve_(without(Drops{.choices = dropped}, root)),
        search_(presolve_.result(), /*seed=*/1) {}

  bool isContradictory() const { return presolve_.contradiction() >= 0; }
  const Network &network() const { return presolve_.result(); }
  const Search &search() const { return search_; }
  std::vector<int> solution() const { return presolve_.expand(search_.best()); }
  int64_t work() const { return work_; }

  // The bound, its prices, and the mean of its choices. `upper`: the cost of the best solution
  // known.
  Ascent ascend(const Prices &start, double upper) {
    AscentOptions options;
    options.acceptedGap = options_.acceptedGap;
    options.cutoff = options_.cutoff;
    options.isLate = options_.isLate;
    const Candidate candidate = [&, calls = 0](const std::vector<int> &choices) mutable {
      if (!search_.offer(choices) && calls++ % 6 == 0)
        search_.repair(choices, start);
      return std::min(upper, search_.bestCost());
    };
    Tightened begun{start};
    elimination_ = makeExact(network(), options_.maxExactWork);
    if (!elimination_) {
      options.iterations = options_.sweeps;
      Messages messages(network());
      begun = messages.tighten(start, options, candidate);
      rewritten_ = messages.rewritten();
      elimination_ = std::make_unique<Elimination>(*rewritten_, options_.maxTableEntries);
    }
    for (const NetworkNode &node : tight().nodes)
      costs_.push_back(node.cost);
    options.iterations = options_.iterations;
    Ascent ascent =
        solver::ascend(tight(), *elimination_, costs_, begun.prices, options, candidate);
    work_ = elimination_->work() * ascent.iterations + elimination_->marginalsWork();
    ascent.bound = std::max(ascent.bound, begun.bound);
    return ascent;
  }

  // After ascend().
  Drops drops(const Prices &prices, double upper) {
    return dropsAbove(tight(), lowerBounds(tight(), *elimination_, costs_, prices, false), upper);
  }

  Split split(const Ascent &ascent, const ChoiceSet &dropped) const {
    const Split byBytes = splitByBytes(network(), ascent.prices, ascent.mean, dropped);
    return byBytes.node >= 0 ? byBytes : splitByChoice(network(), ascent.mean, dropped);
  }

  // Of the root's choices drops those that are not left here, and those of `drop`, all of node v.
  void drop(size_t v, const std::vector<bool> &drop, ChoiceSet &dropped) const {
    std::vector<bool> &all = dropped[presolve_.originalNode(v)];
    all.assign(all.size(), true);
    for (size_t i = 0; i < drop.size(); ++i)
      all[presolve_.originalChoice(v, i)] = drop[i];
  }

private:
  // The form of the network that elimination works on.
  const Network &tight() const { return rewritten_ ? *rewritten_ : network(); }

  const BranchOptions &options_;
  const Presolve presolve_;
  Search search_;
  std::optional<Network> rewritten_; // with messages, if elimination is inexact
  std::unique_ptr<Elimination> elimination_;
  NodeCosts costs_; // of tight()
  int64_t work_ = 0;
};

class Visit {
public:
  Visit(const Network &root, const BranchNode &node, double upper, const BranchOptions &options)
      : root_(root), options_(options), upper_(upper), dropped_(*node.dropped) {
    visited_.bound = node.bound;
    visited_.prices = *node.prices;
  }

  Visited run() {
    constexpr int kMaxRounds = 3;
    for (int round = 1; round <= kMaxRounds; ++round)
      if (!presolveAndBound(round == kMaxRounds))
        break;
    return std::move(visited_);
  }

private:
  double limit() const { return std::min(upper_, options_.cutoff); }

  bool isHopeless() const {
    return visited_.bound == kForbidden ||
           isEnough(visited_.bound, upper_, options_.cutoff, options_.acceptedGap, /*goodGap=*/0);
  }

  // Returns whether so much was dropped that it pays to presolve the rest again; else, or if this
  // is the last time, forms the children.
  bool presolveAndBound(bool isLast) {
    constexpr double kWorthwhile = 0.1; // of the choices
    Rest rest(root_, dropped_, options_);
    if (rest.isContradictory()) {
      visited_.bound = limit();
      return false;
    }
    Ascent ascent =
        rest.ascend(matchPrices(root_.rows, visited_.prices, rest.network().rows), upper_);
    visited_.work += rest.work();
    visited_.bound = std::max(visited_.bound, ascent.bound);
    if (rest.search().bestCost() < upper_) {
      upper_ = rest.search().bestCost();
      visited_.solution = rest.solution();
    }
    if (isHopeless())
      return false;
    visited_.prices = matchPrices(rest.network().rows, ascent.prices, root_.rows);
    const Drops drops = rest.drops(ascent.prices, limit());
    if (drops.leavesNone()) {
      visited_.bound = limit();
      return false;
    }
    for (size_t v = 0; v < drops.choices.size(); ++v)
      rest.drop(v, drops.choices[v], dropped_);
    if (!isLast && drops.choiceShare >= kWorthwhile)
      return true;
    divide(rest, rest.split(ascent, drops.choices), drops);
    return false;
  }

  // Forms the children, which share what is left after the drops.
  void divide(const Rest &rest, const Split &split, const Drops &drops) {
    if (split.node < 0) { // one combination is left
      if (drops.choiceShare > 0)
        visited_.children.push_back(dropped_); // else ascend() has offered it
      return;
    }
    for (bool isSecond : {false, true}) {
      std::vector<bool> drop = drops.choices[split.node];
      for (size_t i = 0; i < drop.size(); ++i)
        drop[i] = drop[i] || split.isSecond[i] != isSecond;
      visited_.children.push_back(dropped_);
      rest.drop(split.node, drop, visited_.children.back());
    }
  }

  const Network &root_;
  const BranchOptions &options_;
  double upper_;
  ChoiceSet dropped_;
  Visited visited_;
};

} // namespace

Visited visit(const Network &root, const BranchNode &node, double upper,
              const BranchOptions &options) {
  return Visit(root, node, upper, options).run();
}

} // namespace cleave::solver
