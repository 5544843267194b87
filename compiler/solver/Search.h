// Search: keeps the best solution of a network; turns choices that exceed the budgets into
// solutions (repair), and improves solutions (descent, regions of other choices, exact re-solving
// of small parts).
#pragma once

#include "compiler/solver/Bound.h"

#include <optional>
#include <random>

namespace cleave::solver {

// The search for solutions of one network. Keeps a reference to it.
class Search {
public:
  // `seed`: of the random choice of parts.
  Search(const Network &network, uint64_t seed);

  // The best solution so far and its cost, which is kForbidden if there is none.
  const std::vector<int> &best() const { return best_; }
  double bestCost() const { return bestCost_; }

  // Accepts the choices if they are a solution, after descent. Returns whether they became the
  // best.
  bool offer(std::vector<int> choices);
  // Changes single nodes until the choices fit, the cheapest change per byte first, then offers
  // them. A change costs seconds plus the price of the bytes that it moves. Returns whether a
  // solution was found.
  bool repair(std::vector<int> choices, const Prices &prices);
  // Takes over choices from `other`, permitted ones that may exceed the budgets: of the regions of
  // nodes in which they differ from the best solution those that lower its cost and still fit, the
  // most seconds per price of their bytes first. Returns whether the solution improved.
  bool adopt(const std::vector<int> &other, const Prices &prices);
  // Re-solves `parts` parts, `threads` at once, each exactly or nearly so with all other nodes
  // fixed, and keeps those results, in order, that make the solution better (large neighbourhood
  // search: P. Shaw, CP 1998). The size of parts adapts to what can be solved exactly. Returns
  // whether the solution improved. The same for every run and every number of threads, since parts
  // are chosen before any is solved.
  bool improve(const Prices &prices, int parts = 1, int threads = 1);
  // From now on, parts are more often around nodes whose choice in the best solution has a high
  // lower bound: `least`, in seconds, per node and choice (Elimination::marginals).
  void guide(NodeCosts least) { least_ = std::move(least); }

  // Of all permitted choices offered or repaired, those that exceed the budgets least: the basis of
  // Infeasibility. Nothing if no permitted choices were offered.
  const std::optional<std::vector<int>> &leastExceeding() const { return leastExceeding_; }

private:
  struct State {
    std::vector<int> choices;
    std::vector<int64_t> bytes; // per row
  };
  double changeOf(const State &state, int v, int i) const;
  bool fits(const State &state, int v, int i) const;
  void apply(State &state, int v, int i) const;
  double excessOf(const std::vector<int64_t> &bytes) const;
  int worstRow(const State &state) const;
  // The cheapest reduction of a load of a node.
  struct Reduction {
    int load = -1;             // index into the node's loads; -1: not computed
    int choice = -1;           // the best choice
    double ratio = kForbidden; // its cost per byte
    int64_t mostSaved = 0; // bytes, by any choice; `ratio` depends on the excess if this is larger
  };
  Reduction bestReduction(const State &state, int v, int index, int64_t excess,
                          const std::vector<double> &priceBefore) const;
  bool reduceRow(State &state, int row, const std::vector<double> &priceBefore,
                 std::vector<Reduction> &known) const;
  void descend(State &state) const;
  bool exceeds(const State &state, const std::vector<int> &nodes) const;
  void remember(const State &state);
  std::vector<int> choosePart();
  int randomNode() { return static_cast<int>(random_() % network_.nodes.size()); }
  int firstNode();
  int nodeLiveWith(int v);
  // A part as a network of its own, and the prices of its rows.
  struct Part {
    Network network;
    Prices prices;
  };
  Network nodesOf(const std::vector<int> &part) const;
  Part extract(const std::vector<int> &nodes, const Prices &prices) const;
  // The best choices found for the nodes of a part; empty if none fit.
  struct Proposal {
    std::vector<int> nodes, choices;
    bool isExact = false; // elimination of the part was
  };
  Proposal solvePart(std::vector<int> nodes, const Prices &prices, uint64_t seed) const;
  void take(const Proposal &proposal);

  const Network &network_;
  std::mt19937_64 random_;
  std::vector<int> best_;
  double bestCost_ = kForbidden;
  std::optional<std::vector<int>> leastExceeding_;
  double leastExcess_ = kForbidden;
  double largestPart_ = 240; // nodes; adapted by improve()
  NodeCosts least_;          // see guide(); empty: all nodes are alike
};

} // namespace cleave::solver
