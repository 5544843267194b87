// The tree of fixed and excluded choices.
#include "compiler/solver/Branch.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace cleave::solver {

namespace {

// Fixes or excludes one choice of one node, on top of the decisions before.
struct Decision {
  std::shared_ptr<const Decision> before;
  int node = 0;
  int choice = 0;
  bool isFixed = false;
};

struct Open {
  double bound = 0;
  int number = 0; // of creation, to break ties: the newest first
  std::shared_ptr<const Decision> decision;
  std::shared_ptr<const Prices> prices;
  bool operator<(const Open &other) const { // std::push_heap keeps the largest in front
    return bound != other.bound ? bound > other.bound : number < other.number;
  }
};

class Tree {
public:
  Tree(const Network &network, Elimination &elimination, Search &search,
       const BranchOptions &options)
      : network_(network), elimination_(elimination), search_(search), options_(options) {}

  BranchResult run(const Ascent &root) {
    push(root.bound, nullptr, std::make_shared<Prices>(root.prices));
    BranchResult result;
    while (!open_.empty() && result.branches < options_.maxBranches &&
           !(options_.isLate && options_.isLate())) {
      std::pop_heap(open_.begin(), open_.end());
      Open next = std::move(open_.back());
      open_.pop_back();
      if (isHopeless(next.bound))
        continue; // as all others are; popping them is cheap
      ++result.branches;
      visit(next);
    }
    result.isComplete = open_.empty();
    result.bound = std::min(search_.bestCost(), options_.cutoff);
    for (const Open &left : open_)
      result.bound = std::min(result.bound, left.bound);
    return result;
  }

private:
  bool isHopeless(double bound) const {
    return bound == kForbidden ||
           isEnough(bound, search_.bestCost(), options_.cutoff, options_.acceptedGap,
                    /*goodGap=*/0);
  }

  void push(double bound, std::shared_ptr<const Decision> decision,
            std::shared_ptr<const Prices> prices) {
    open_.push_back({bound, created_++, std::move(decision), std::move(prices)});
    std::push_heap(open_.begin(), open_.end());
  }

  // The node costs with excluded choices forbidden.
  NodeCosts domains(const Decision *decision) const {
    NodeCosts costs;
    for (const NetworkNode &node : network_.nodes)
      costs.push_back(node.cost);
    for (; decision; decision = decision->before.get())
      for (size_t i = 0; i < costs[decision->node].size(); ++i)
        if ((static_cast<int>(i) == decision->choice) != decision->isFixed)
          costs[decision->node][i] = kForbidden;
    return costs;
  }

  // Whether the least bytes of the permitted choices exceed the budget of some row.
  bool exceedsMemory(const NodeCosts &costs) const {
    std::vector<int64_t> least(network_.rows.size() + 1, 0);
    for (size_t v = 0; v < costs.size(); ++v)
      for (const Load &load : network_.nodes[v].loads) {
        int64_t bytes = INT64_MAX;
        for (size_t i = 0; i < costs[v].size(); ++i)
          if (costs[v][i] < kForbidden)
            bytes = std::min(bytes, load.bytes[i]);
        if (bytes == INT64_MAX)
          return true;
        least[load.begin] += bytes;
        least[load.end] -= bytes;
      }
    int64_t sum = 0;
    for (size_t r = 0; r < network_.rows.size(); ++r)
      if ((sum += least[r]) > network_.rows[r].budget)
        return true;
    return false;
  }

  // The undecided node about which the subproblems agreed least, or -1.
  int undecided(const NodeCosts &costs, const NodeCosts &mean) const {
    int best = -1;
    double least = 2;
    for (size_t v = 0; v < costs.size(); ++v) {
      int permitted = 0;
      double most = 0;
      for (size_t i = 0; i < costs[v].size(); ++i)
        if (costs[v][i] < kForbidden) {
          ++permitted;
          most = std::max(most, mean[v][i]);
        }
      // Of equally decided nodes those with memory, which the bound relaxes.
      double agreement = most - (network_.nodes[v].loads.empty() ? 0 : 1e-6);
      if (permitted > 1 && agreement < least) {
        least = agreement;
        best = static_cast<int>(v);
      }
    }
    return best;
  }

  void visit(const Open &open) {
    NodeCosts costs = domains(open.decision.get());
    if (exceedsMemory(costs))
      return;
    AscentOptions ascentOptions;
    ascentOptions.iterations = options_.iterationsPerBranch;
    ascentOptions.acceptedGap = options_.acceptedGap;
    int calls = 0;
    Ascent ascent = ascend(network_, elimination_, costs, *open.prices, ascentOptions,
                           [&](const std::vector<int> &choices) {
                             if (!search_.offer(choices) && calls++ % 6 == 0)
                               search_.repair(choices, *open.prices);
                             return search_.bestCost();
                           });
    double bound = std::max(open.bound, ascent.bound);
    if (isHopeless(bound))
      return;
    int v = undecided(costs, ascent.mean);
    if (v < 0) {
      // One combination is left; ascend() has offered it.
      return;
    }
    int choice = -1;
    for (size_t i = 0; i < costs[v].size(); ++i)
      if (costs[v][i] < kForbidden && (choice < 0 || ascent.mean[v][i] > ascent.mean[v][choice]))
        choice = static_cast<int>(i);
    auto prices = std::make_shared<Prices>(std::move(ascent.prices));
    for (bool isFixed : {false, true})
      push(bound, std::make_shared<Decision>(Decision{open.decision, v, choice, isFixed}), prices);
  }

  const Network &network_;
  Elimination &elimination_;
  Search &search_;
  const BranchOptions &options_;
  std::vector<Open> open_;
  int created_ = 0;
};

} // namespace

BranchResult branch(const Network &network, Elimination &elimination, const Ascent &root,
                    Search &search, const BranchOptions &options) {
  return Tree(network, elimination, search, options).run(root);
}

} // namespace cleave::solver
