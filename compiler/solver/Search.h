// Search: keeps the best solution of a network, and makes solutions out of choices that exceed the
// memory (repair), then better ones (descent, and exact solution of small parts).
#pragma once

#include "compiler/solver/Bound.h"

#include <optional>
#include <random>

namespace cleave::solver {

class Search {
public:
  Search(const Network &network, uint64_t seed);

  // The best solution so far; its cost is `forbidden` if there is none.
  const std::vector<int> &best() const { return best_; }
  double bestCost() const { return bestCost_; }

  // Takes the choices if they are a solution, after descent. Whether they became the best.
  bool offer(std::vector<int> choices);
  // Changes single nodes until the choices fit, preferring what costs least per byte (bytes also
  // weighed with the prices), then offers them. Whether a solution was found.
  bool repair(std::vector<int> choices, const Prices &prices);
  // Solves the part around a random node anew, all else fixed, and takes the result if it is better.
  // Parts are as large as they can be solved exactly, or smaller.
  bool improve(const Prices &prices);

  // Permitted choices that exceed the budgets least, of all that were offered or repaired: what the
  // answer to an infeasible problem refers to. Nothing if nothing permitted was offered.
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
  // What lowering a load of a node is worth.
  struct Reduction {
    int load = -1;            // of the node's loads; -1: not known
    int choice = -1;          // the best
    double ratio = forbidden; // its cost per byte
    int64_t mostSaved = 0;    // by any choice: where it exceeds what is needed, that counts instead
  };
  Reduction bestReduction(const State &state, int v, int index, int64_t excess,
                          const std::vector<double> &priceBefore) const;
  bool reduceRow(State &state, int row, const std::vector<double> &priceBefore,
                 std::vector<Reduction> &known) const;
  void descend(State &state) const;
  void remember(const State &state);
  std::vector<int> choosePart();
  Network extract(const std::vector<int> &part) const;

  const Network &network_;
  std::mt19937_64 random_;
  std::vector<int> best_;
  double bestCost_ = forbidden;
  std::optional<std::vector<int>> leastExceeding_;
  double leastExcess_ = forbidden;
  double largestPart_ = 240; // nodes; adapted by improve()
};

} // namespace cleave::solver
