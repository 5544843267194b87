// Repair and descent; Adopt.cpp takes over regions of other choices, Parts.cpp re-solves parts.
#include "compiler/solver/Search.h"

#include <algorithm>
#include <cmath>

namespace cleave::solver {

Search::Search(const Network &network, uint64_t seed) : network_(network), random_(seed) {}

// The change in cost when v takes i.
double Search::changeOf(const State &state, int v, int i) const {
  const NetworkNode &node = network_.nodes[v];
  const int now = state.choices[v];
  double change = node.cost[i] - node.cost[now];
  for (auto [w, e] : node.edgeTo)
    change += network_.edgeCost(e, v, i, state.choices[w]) -
              network_.edgeCost(e, v, now, state.choices[w]);
  return change;
}

// Whether v can take i: of the rows that grow, none exceeds its budget.
bool Search::fits(const State &state, int v, int i) const {
  for (const Load &load : network_.nodes[v].loads) {
    int64_t more = load.bytes[i] - load.bytes[state.choices[v]];
    if (more > 0)
      for (int r = load.begin; r < load.end; ++r)
        if (state.bytes[r] + more > network_.rows[r].budget)
          return false;
  }
  return true;
}

void Search::apply(State &state, int v, int i) const {
  for (const Load &load : network_.nodes[v].loads) {
    int64_t more = load.bytes[i] - load.bytes[state.choices[v]];
    if (more != 0)
      for (int r = load.begin; r < load.end; ++r)
        state.bytes[r] += more;
  }
  state.choices[v] = i;
}

static double excessShare(const Row &row, int64_t bytes) {
  double total = std::max<double>(1.0, static_cast<double>(row.budget + row.taken));
  return static_cast<double>(bytes - row.budget) / total;
}

// The largest excess of a row as a share of its budget; <= 0 if all rows are within.
double Search::excessOf(const std::vector<int64_t> &bytes) const {
  double most = -1;
  for (size_t r = 0; r < bytes.size(); ++r)
    most = std::max(most, excessShare(network_.rows[r], bytes[r]));
  return most;
}

int Search::worstRow(const State &state) const {
  int worst = -1;
  double most = 0;
  for (size_t r = 0; r < state.bytes.size(); ++r)
    if (state.bytes[r] > network_.rows[r].budget) {
      double excess = excessShare(network_.rows[r], state.bytes[r]);
      if (worst < 0 || excess > most) {
        worst = static_cast<int>(r);
        most = excess;
      }
    }
  return worst;
}

void Search::remember(const State &state) {
  double excess = excessOf(state.bytes);
  if (excess < leastExcess_) {
    leastExcess_ = excess;
    leastExceeding_ = state.choices;
  }
}

// Applies single changes that lower the cost and fit, until there are none.
void Search::descend(State &state) const {
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t v = 0; v < network_.nodes.size(); ++v) {
      int best = -1;
      double most = -1e-12 * std::max(1e-6, std::abs(network_.nodes[v].cost[state.choices[v]]));
      for (size_t i = 0; i < network_.nodes[v].size(); ++i) {
        if (static_cast<int>(i) == state.choices[v])
          continue;
        double change = changeOf(state, static_cast<int>(v), static_cast<int>(i));
        if (change < most && fits(state, static_cast<int>(v), static_cast<int>(i))) {
          most = change;
          best = static_cast<int>(i);
        }
      }
      if (best >= 0) {
        apply(state, static_cast<int>(v), best);
        changed = true;
      }
    }
  }
}

bool Search::offer(std::vector<int> choices) {
  double cost = network_.totalCost(choices);
  if (!(cost < kForbidden))
    return false;
  State state{std::move(choices), {}};
  state.bytes = network_.usage(state.choices);
  remember(state);
  if (worstRow(state) >= 0)
    return false;
  if (bestCost_ < kForbidden && cost > bestCost_ + 0.05 * std::abs(bestCost_))
    return true; // too expensive for a descent to pay off
  descend(state);
  cost = network_.totalCost(state.choices);
  if (cost < bestCost_) {
    bestCost_ = cost;
    best_ = state.choices;
  }
  return true;
}

// The change of v that lowers a load's bytes at the least cost per byte; bytes beyond the excess do
// not count.
Search::Reduction Search::bestReduction(const State &state, int v, int index, int64_t excess,
                                        const std::vector<double> &priceBefore) const {
  const NetworkNode &node = network_.nodes[v];
  const Load &load = node.loads[index];
  const int now = state.choices[v];
  Reduction best;
  best.load = index;
  for (size_t i = 0; i < node.size(); ++i) {
    int64_t saved = load.bytes[now] - load.bytes[i];
    if (saved <= 0)
      continue;
    double change = changeOf(state, v, static_cast<int>(i));
    for (const Load &other : node.loads)
      change += (priceBefore[other.end] - priceBefore[other.begin]) *
                static_cast<double>(other.bytes[i] - other.bytes[now]);
    best.mostSaved = std::max(best.mostSaved, saved);
    double ratio = change / static_cast<double>(std::min(saved, excess));
    if (ratio < best.ratio) {
      best.ratio = ratio;
      best.choice = static_cast<int>(i);
    }
  }
  return best;
}

// Applies the change that lowers the row's bytes at the least cost per byte; false if there is
// none. `known` caches reductions per node, most of which stay valid from change to change.
bool Search::reduceRow(State &state, int row, const std::vector<double> &priceBefore,
                       std::vector<Reduction> &known) const {
  int bestNode = -1;
  double bestRatio = kForbidden;
  const int64_t excess = state.bytes[row] - network_.rows[row].budget;
  for (size_t v = 0; v < network_.nodes.size(); ++v) {
    const std::vector<Load> &loads = network_.nodes[v].loads;
    auto load = std::find_if(loads.begin(), loads.end(),
                             [&](const Load &load) { return load.begin <= row && row < load.end; });
    if (load == loads.end() || load->bytes[state.choices[v]] == 0)
      continue;
    const int index = static_cast<int>(load - loads.begin());
    if (known[v].load != index || known[v].mostSaved > excess) {
      known[v] = bestReduction(state, static_cast<int>(v), index, excess, priceBefore);
      if (known[v].mostSaved > excess) // valid for this excess only
        known[v].load = -1;
    }
    if (known[v].ratio < bestRatio) {
      bestRatio = known[v].ratio;
      bestNode = static_cast<int>(v);
    }
  }
  if (bestNode < 0)
    return false;
  apply(state, bestNode, known[bestNode].choice);
  // The entries of the node and its neighbours are invalid now.
  known[bestNode].load = -1;
  for (auto [w, e] : network_.nodes[bestNode].edgeTo)
    known[w].load = -1;
  return true;
}

bool Search::repair(std::vector<int> choices, const Prices &prices) {
  if (!(network_.totalCost(choices) < kForbidden))
    return false;
  State state{std::move(choices), {}};
  state.bytes = network_.usage(state.choices);
  std::vector<double> priceBefore(prices.size() + 1, 0.0);
  for (size_t r = 0; r < prices.size(); ++r)
    priceBefore[r + 1] = priceBefore[r] + prices[r];
  // Every change lowers the worst row but may raise another one, so their number is limited.
  size_t limit = 20 + 2 * network_.nodes.size();
  std::vector<Reduction> known(network_.nodes.size());
  for (size_t k = 0; k < limit; ++k) {
    int row = worstRow(state);
    if (row < 0)
      return offer(state.choices);
    if (!reduceRow(state, row, priceBefore, known))
      break;
  }
  remember(state);
  return false;
}

} // namespace cleave::solver
