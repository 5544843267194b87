// Re-solving of parts: which nodes, their network, and its solution.
#include "compiler/solver/Fixing.h"
#include "compiler/solver/Presolve.h"
#include "compiler/solver/Search.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <future>

namespace cleave::solver {

// Of a few random nodes the one whose choice exceeds the lower bound of its best choice most.
int Search::firstNode() {
  int first = randomNode();
  if (least_.empty())
    return first;
  constexpr int kTries = 4;
  double most = -1;
  for (int k = 0; k < kTries; ++k) {
    const int v = k == 0 ? first : randomNode();
    const std::vector<double> &least = least_[v];
    const double excess = least[best_[v]] - *std::min_element(least.begin(), least.end());
    if (excess > most) {
      most = excess;
      first = v;
    }
  }
  return first;
}

// A random node that needs memory at a time when v does, so that they can exchange it; any random
// node if there is none among a few.
int Search::nodeLiveWith(int v) {
  const std::vector<Load> &loads = network_.nodes[v].loads;
  int found = randomNode();
  if (loads.empty())
    return found;
  const Load &load = loads[random_() % loads.size()];
  constexpr int kTries = 20;
  for (int k = 0; k < kTries; ++k) {
    for (const Load &other : network_.nodes[found].loads)
      if (found != v && other.begin < load.end && load.begin < other.end)
        return found;
    found = randomNode();
  }
  return found;
}

// A node and the nodes a few edges away from it, or from one or two more that are live with it.
std::vector<int> Search::choosePart() {
  // Small parts are as frequent as large ones.
  const double fraction = static_cast<double>(random_() % 1024) / 1024;
  const int partSize = static_cast<int>(8 * std::pow(largestPart_ / 8, fraction));
  const int count = static_cast<int>(network_.nodes.size());
  std::vector<int> part;
  std::vector<bool> taken(count, false);
  auto grow = [&](int seed, size_t size) {
    std::vector<int> frontier;
    if (!taken[seed]) {
      taken[seed] = true;
      frontier.push_back(seed);
    }
    while (!frontier.empty() && part.size() < size) {
      size_t at = random_() % frontier.size();
      int v = frontier[at];
      frontier[at] = frontier.back();
      frontier.pop_back();
      part.push_back(v);
      for (auto [w, e] : network_.nodes[v].edgeTo)
        if (!taken[w]) {
          taken[w] = true;
          frontier.push_back(w);
        }
    }
  };
  const int seeds = 1 + static_cast<int>(random_() % 3);
  const int first = firstNode();
  for (int k = 1; k <= seeds; ++k)
    grow(k == 1 ? first : nodeLiveWith(first), static_cast<size_t>(partSize) * k / seeds);
  std::sort(part.begin(), part.end());
  return part;
}

// The nodes and edges of the part, with all other nodes as in the best solution; loads still refer
// to all rows.
Network Search::nodesOf(const std::vector<int> &part) const {
  std::vector<int> newIndex(network_.nodes.size(), -1);
  for (size_t k = 0; k < part.size(); ++k)
    newIndex[part[k]] = static_cast<int>(k);
  Network small;
  for (int v : part) {
    const NetworkNode &node = network_.nodes[v];
    NetworkNode copy{node.cost, node.loads, {}};
    for (auto [w, e] : node.edgeTo)
      if (newIndex[w] < 0)
        for (size_t i = 0; i < node.size(); ++i)
          copy.cost[i] += network_.edgeCost(e, v, static_cast<int>(i), best_[w]);
    small.nodes.push_back(std::move(copy));
  }
  for (int v : part)
    for (auto [w, e] : network_.nodes[v].edgeTo)
      if (v < w && newIndex[w] >= 0) {
        int a = newIndex[v], b = newIndex[w];
        const int edge = static_cast<int>(small.edges.size());
        small.nodes[a].edgeTo.insert({b, edge});
        small.nodes[b].edgeTo.insert({a, edge});
        small.edges.push_back({a, b, network_.edges[e].cost});
      }
  return small;
}

// The network of the part alone. Rows between which no load of the part begins or ends become one,
// with the least budget left and the sum of their prices.
Search::Part Search::extract(const std::vector<int> &nodes, const Prices &prices) const {
  Part part{nodesOf(nodes), {}};
  const size_t count = network_.rows.size();
  std::vector<int64_t> others = network_.usage(best_), own(count + 1, 0);
  std::vector<int> covers(count + 1, 0); // loads that begin less those that end at a row
  std::vector<bool> isBorder(count + 1, false);
  for (int v : nodes)
    for (const Load &load : network_.nodes[v].loads) {
      own[load.begin] += load.bytes[best_[v]];
      own[load.end] -= load.bytes[best_[v]];
      ++covers[load.begin];
      --covers[load.end];
      isBorder[load.begin] = isBorder[load.end] = true;
    }
  std::vector<int> newIndex(count + 1, 0);
  int64_t sum = 0;
  int covering = 0;
  for (size_t r = 0; r < count; ++r) {
    sum += own[r];
    covering += covers[r];
    std::vector<Row> &rows = part.network.rows;
    newIndex[r] = static_cast<int>(rows.size()) - (isBorder[r] ? 0 : 1);
    if (covering == 0)
      continue;
    Row row = network_.rows[r];
    row.budget -= others[r] - sum;
    row.taken += others[r] - sum;
    if (isBorder[r]) {
      rows.push_back(row);
      part.prices.push_back(prices[r]);
      continue;
    }
    part.prices.back() += prices[r];
    if (row.budget < rows.back().budget)
      rows.back() = row;
  }
  newIndex[count] = static_cast<int>(part.network.rows.size());
  for (NetworkNode &node : part.network.nodes)
    for (Load &load : node.loads) {
      load.begin = newIndex[load.begin];
      load.end = newIndex[load.end];
    }
  return part;
}

Search::Proposal Search::solvePart(std::vector<int> nodes, const Prices &prices,
                                   uint64_t seed) const {
  Part part = extract(nodes, prices);
  const std::vector<Row> rows = part.network.rows;
  Presolve presolve(std::move(part.network));
  const Network &small = presolve.result();
  const Prices start = matchPrices(rows, part.prices, small.rows);
  NodeCosts costs;
  for (const NetworkNode &node : small.nodes)
    costs.push_back(node.cost);
  Elimination elimination(small, 1 << 14);
  Search inner(small, seed);
  AscentOptions options;
  options.iterations = 12;
  ascend(small, elimination, costs, start, options, [&](const std::vector<int> &choices) {
    if (!inner.offer(choices))
      inner.repair(choices, start);
    return inner.bestCost();
  });
  Proposal proposal{std::move(nodes), {}, elimination.isExact()};
  if (inner.bestCost() < kForbidden)
    proposal.choices = presolve.expand(inner.best());
  return proposal;
}

// Accepts the proposal if it makes the best solution better.
void Search::take(const Proposal &proposal) {
  largestPart_ =
      proposal.isExact ? std::min(400.0, largestPart_ * 1.02) : std::max(16.0, largestPart_ * 0.95);
  if (proposal.choices.empty())
    return;
  std::vector<int> choices = best_;
  for (size_t k = 0; k < proposal.nodes.size(); ++k)
    choices[proposal.nodes[k]] = proposal.choices[k];
  if (network_.totalCost(choices) < bestCost_)
    offer(std::move(choices));
}

bool Search::improve(const Prices &prices, int parts, int threads) {
  if (best_.empty())
    return false;
  const double before = bestCost_;
  std::vector<std::vector<int>> chosen;
  std::vector<uint64_t> seeds;
  for (int k = 0; k < parts; ++k) {
    chosen.push_back(choosePart());
    seeds.push_back(random_());
  }
  std::vector<Proposal> solved(chosen.size());
  std::atomic<size_t> next = 0;
  auto solveOnes = [&] {
    for (size_t k = next++; k < chosen.size(); k = next++)
      solved[k] = solvePart(chosen[k], prices, seeds[k]);
  };
  std::vector<std::future<void>> others;
  for (int k = 1; k < threads; ++k)
    others.push_back(std::async(std::launch::async, solveOnes));
  solveOnes();
  for (std::future<void> &other : others)
    other.get();
  for (const Proposal &proposal : solved)
    take(proposal);
  return bestCost_ < before;
}

} // namespace cleave::solver
