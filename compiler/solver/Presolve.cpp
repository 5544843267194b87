// The reductions, applied until none applies.
#include "compiler/solver/Presolve.h"

#include <algorithm>
#include <deque>
#include <numeric>

namespace cleave::solver {

// The number of matrix entries by which a merge or an elimination may enlarge the network.
static constexpr int64_t kMaxGrowth = 1 << 12;

Presolve::Presolve(Network network) : network_(std::move(network)) {
  originalCount_ = network_.nodes.size();
  alive_.assign(originalCount_, true);
  ids_.resize(originalCount_);
  for (size_t v = 0; v < originalCount_; ++v) {
    ids_[v].resize(network_.nodes[v].size());
    std::iota(ids_[v].begin(), ids_[v].end(), 0);
  }
  propagate();
  reduceRows(network_);
  for (int round = 0; round < 10 && contradiction_ < 0; ++round) {
    bool changed = follow();
    changed |= dominate();
    changed |= propagate();
    reduceRows(network_);
    changed |= eliminate();
    if (!changed)
      break;
  }
  compact();
}

// Whether choice i of v is permitted together with some choice of every neighbour.
bool Presolve::isConsistent(int v, int i) const {
  const NetworkNode &node = network_.nodes[v];
  if (node.cost[i] == kForbidden)
    return false;
  for (auto [w, e] : node.edgeTo) {
    bool any = false;
    for (size_t j = 0; j < network_.nodes[w].size() && !any; ++j)
      any = network_.nodes[w].cost[j] != kForbidden &&
            network_.edgeCost(e, v, i, static_cast<int>(j)) != kForbidden;
    if (!any)
      return false;
  }
  return true;
}

bool Presolve::propagate() {
  bool changed = false;
  std::deque<int> queue;
  std::vector<bool> queued(originalCount_, false);
  for (size_t v = 0; v < originalCount_; ++v)
    if (alive_[v]) {
      queue.push_back(static_cast<int>(v));
      queued[v] = true;
    }
  while (!queue.empty() && contradiction_ < 0) {
    int v = queue.front();
    queue.pop_front();
    queued[v] = false;
    std::vector<bool> keep(network_.nodes[v].size());
    for (size_t i = 0; i < keep.size(); ++i)
      keep[i] = isConsistent(v, static_cast<int>(i));
    size_t left = std::count(keep.begin(), keep.end(), true);
    if (left == keep.size())
      continue;
    if (left == 0) {
      contradiction_ = v;
      return true;
    }
    keepChoices(v, keep);
    changed = true;
    for (auto [w, e] : network_.nodes[v].edgeTo)
      if (!queued[w]) {
        queue.push_back(w);
        queued[w] = true;
      }
  }
  return changed;
}

// Removes the other choices of v from everything indexed by choices of v.
void Presolve::keepChoices(int v, const std::vector<bool> &keep) {
  NetworkNode &node = network_.nodes[v];
  const size_t before = node.size();
  for (auto [w, e] : node.edgeTo) {
    NetworkEdge &edge = network_.edges[e];
    const size_t others = network_.nodes[w].size();
    std::vector<double> cost;
    cost.reserve(edge.cost.size());
    if (edge.from == v) {
      for (size_t i = 0; i < before; ++i)
        if (keep[i])
          cost.insert(cost.end(), edge.cost.begin() + i * others,
                      edge.cost.begin() + (i + 1) * others);
    } else {
      for (size_t j = 0; j < others; ++j)
        for (size_t i = 0; i < before; ++i)
          if (keep[i])
            cost.push_back(edge.cost[j * before + i]);
    }
    edge.cost = std::move(cost);
  }
  auto filter = [&](auto &list) {
    size_t n = 0;
    for (size_t i = 0; i < before; ++i)
      if (keep[i])
        list[n++] = list[i];
    list.resize(n);
  };
  filter(node.cost);
  filter(ids_[v]);
  for (Load &load : node.loads)
    filter(load.bytes);
}

bool Presolve::follow() {
  bool changed = false;
  std::deque<int> queue;
  for (size_t v = 0; v < originalCount_; ++v)
    if (alive_[v])
      queue.push_back(static_cast<int>(v));
  while (!queue.empty()) {
    int u = queue.front();
    queue.pop_front();
    if (!alive_[u])
      continue;
    std::vector<int> neighbours;
    for (auto [v, e] : network_.nodes[u].edgeTo)
      neighbours.push_back(v);
    bool merged = false;
    for (int v : neighbours)
      if (mergeInto(u, v)) {
        merged = true;
        if (!alive_[u]) {
          queue.push_back(v);
          break;
        }
      }
    if (merged && alive_[u])
      queue.push_back(u);
    changed |= merged;
  }
  return changed;
}

// Merges u into v if v's choice determines u's and the matrices do not grow much (or v into u if
// each determines the other and v has fewer edges).
bool Presolve::mergeInto(int u, int v) {
  NetworkNode &from = network_.nodes[u];
  NetworkNode &into = network_.nodes[v];
  // Most pairs are rejected without reading the matrices.
  if (into.size() < from.size())
    return false;
  const int64_t wider = static_cast<int64_t>(into.size() - from.size());
  if (wider * static_cast<int64_t>(from.edgeTo.size() - 1) > kMaxGrowth)
    return false;
  const int e = from.edgeTo.at(v);
  std::vector<int> image(into.size(), -1); // v's choice -> u's
  for (size_t j = 0; j < into.size(); ++j)
    for (size_t i = 0; i < from.size(); ++i)
      if (network_.edgeCost(e, u, static_cast<int>(i), static_cast<int>(j)) != kForbidden) {
        if (image[j] >= 0)
          return false;
        image[j] = static_cast<int>(i);
      }
  if (std::find(image.begin(), image.end(), -1) != image.end())
    return false; // left to propagate()
  // One to one: moving the node with fewer edges is cheaper.
  if (from.size() == into.size() && from.edgeTo.size() > into.edgeTo.size())
    return mergeInto(v, u);
  int64_t growth = 0;
  for (auto [w, f] : from.edgeTo)
    if (w != v)
      growth += static_cast<int64_t>(network_.nodes[w].size()) * wider;
  if (growth > kMaxGrowth)
    return false;

  Removal removal{u, v, -1, ids_[v], {}, {}};
  for (size_t j = 0; j < into.size(); ++j) {
    removal.best.push_back(ids_[u][image[j]]);
    into.cost[j] += from.cost[image[j]] + network_.edgeCost(e, u, image[j], static_cast<int>(j));
  }
  for (const Load &load : from.loads) {
    Load moved{load.begin, load.end, {}};
    for (size_t j = 0; j < into.size(); ++j)
      moved.bytes.push_back(load.bytes[image[j]]);
    into.loads.push_back(std::move(moved));
  }
  std::map<int, int> edges = from.edgeTo;
  for (auto [w, f] : edges) {
    if (w == v)
      continue;
    const size_t columns = network_.nodes[w].size();
    std::vector<double> cost(into.size() * columns);
    for (size_t j = 0; j < into.size(); ++j)
      for (size_t x = 0; x < columns; ++x)
        cost[j * columns + x] = network_.edgeCost(f, u, image[j], static_cast<int>(x));
    addMatrix(v, w, cost);
  }
  removals_.push_back(std::move(removal));
  removeNode(u);
  return true;
}

// Adds a matrix (rows = choices of u) to the edge between u and v; creates the edge if there is
// none.
void Presolve::addMatrix(int u, int v, const std::vector<double> &cost) {
  const size_t rows = network_.nodes[u].size();
  const size_t columns = network_.nodes[v].size();
  auto [place, isNew] =
      network_.nodes[u].edgeTo.insert({v, static_cast<int>(network_.edges.size())});
  if (isNew) {
    network_.nodes[v].edgeTo[u] = place->second;
    network_.edges.push_back(
        {std::min(u, v), std::max(u, v), std::vector<double>(rows * columns, 0.0)});
  }
  NetworkEdge &edge = network_.edges[place->second];
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j)
      edge.cost[edge.from == u ? i * columns + j : j * rows + i] += cost[i * columns + j];
}

void Presolve::removeEdge(int e) {
  NetworkEdge &edge = network_.edges[e];
  network_.nodes[edge.from].edgeTo.erase(edge.to);
  network_.nodes[edge.to].edgeTo.erase(edge.from);
  edge.cost.clear();
}

void Presolve::removeNode(int v) {
  std::map<int, int> edges = network_.nodes[v].edgeTo;
  for (auto [w, e] : edges)
    removeEdge(e);
  network_.nodes[v] = {};
  alive_[v] = false;
}

// Whether i instead of j never costs more and never needs more memory, for all choices of the other
// nodes.
bool Presolve::dominates(int v, int i, int j) const {
  const NetworkNode &node = network_.nodes[v];
  double excess = node.cost[i] - node.cost[j];
  for (const Load &load : node.loads)
    if (load.bytes[i] > load.bytes[j])
      return false;
  for (auto [w, e] : node.edgeTo) {
    double worst = -kForbidden;
    for (size_t x = 0; x < network_.nodes[w].size(); ++x) {
      double instead = network_.edgeCost(e, v, j, static_cast<int>(x));
      if (instead == kForbidden)
        continue;
      double cost = network_.edgeCost(e, v, i, static_cast<int>(x));
      if (cost == kForbidden)
        return false;
      worst = std::max(worst, cost - instead);
    }
    excess += worst;
  }
  return excess <= 0;
}

bool Presolve::dominate() {
  bool changed = false;
  for (size_t v = 0; v < originalCount_ && contradiction_ < 0; ++v) {
    const size_t count = alive_[v] ? network_.nodes[v].size() : 0;
    std::vector<bool> keep(count, true);
    for (size_t j = 0; j < count; ++j)
      for (size_t i = 0; i < count && keep[j]; ++i)
        if (i != j && keep[i] &&
            dominates(static_cast<int>(v), static_cast<int>(i), static_cast<int>(j)))
          keep[j] = false;
    if (std::find(keep.begin(), keep.end(), false) != keep.end()) {
      keepChoices(static_cast<int>(v), keep);
      changed = true;
    }
  }
  return changed;
}

bool Presolve::eliminate() {
  bool changed = false;
  std::deque<int> queue;
  for (size_t v = 0; v < originalCount_; ++v)
    if (alive_[v])
      queue.push_back(static_cast<int>(v));
  while (!queue.empty() && contradiction_ < 0) {
    int v = queue.front();
    queue.pop_front();
    const NetworkNode &node = network_.nodes[v];
    if (!alive_[v] || !node.loads.empty() || node.edgeTo.size() > 2)
      continue;
    std::vector<int> neighbours;
    int64_t before = 0, after = 1;
    for (auto [w, e] : node.edgeTo) {
      neighbours.push_back(w);
      before += network_.edges[e].cost.size();
      after *= network_.nodes[w].size();
    }
    bool isEdge =
        neighbours.size() == 2 && network_.nodes[neighbours[0]].edgeTo.count(neighbours[1]);
    if (neighbours.size() == 2 && !isEdge && after > before + kMaxGrowth)
      continue;
    eliminateNode(v);
    changed = true;
    for (int w : neighbours)
      queue.push_back(w);
  }
  return changed;
}

// Replaces v by the cost of its best choice for every combination of its neighbours' (at most two).
void Presolve::eliminateNode(int v) {
  const NetworkNode &node = network_.nodes[v];
  Removal removal{v, -1, -1, {}, {}, {}};
  int edgeFirst = -1, edgeSecond = -1;
  for (auto [w, e] : node.edgeTo) {
    (removal.first < 0 ? edgeFirst : edgeSecond) = e;
    (removal.first < 0 ? removal.firstIds : removal.secondIds) = ids_[w];
    (removal.first < 0 ? removal.first : removal.second) = w;
  }
  const size_t rows = removal.first < 0 ? 1 : network_.nodes[removal.first].size();
  const size_t columns = removal.second < 0 ? 1 : network_.nodes[removal.second].size();
  std::vector<double> cost(rows * columns, kForbidden);
  removal.best.assign(rows * columns, ids_[v][0]);
  for (size_t a = 0; a < rows; ++a)
    for (size_t b = 0; b < columns; ++b)
      for (size_t i = 0; i < node.size(); ++i) {
        double sum = node.cost[i];
        if (edgeFirst >= 0)
          sum += network_.edgeCost(edgeFirst, v, static_cast<int>(i), static_cast<int>(a));
        if (edgeSecond >= 0)
          sum += network_.edgeCost(edgeSecond, v, static_cast<int>(i), static_cast<int>(b));
        if (sum < cost[a * columns + b]) {
          cost[a * columns + b] = sum;
          removal.best[a * columns + b] = ids_[v][i];
        }
      }
  int first = removal.first, second = removal.second;
  removals_.push_back(std::move(removal));
  removeNode(v);
  if (first < 0)
    network_.constant += cost[0];
  else if (second < 0)
    for (size_t a = 0; a < rows; ++a)
      network_.nodes[first].cost[a] += cost[a];
  else
    addMatrix(first, second, cost);
}

// Renumbers the remaining nodes and edges.
void Presolve::compact() {
  Network compacted;
  compacted.constant = network_.constant;
  compacted.rows = network_.rows;
  std::vector<int> newIndex(originalCount_, -1);
  for (size_t v = 0; v < originalCount_; ++v)
    if (alive_[v]) {
      newIndex[v] = static_cast<int>(originalNode_.size());
      originalNode_.push_back(static_cast<int>(v));
      compacted.nodes.push_back(std::move(network_.nodes[v]));
      compacted.nodes.back().edgeTo.clear();
    }
  for (NetworkEdge &edge : network_.edges) {
    if (edge.cost.empty())
      continue;
    int e = static_cast<int>(compacted.edges.size());
    compacted.edges.push_back({newIndex[edge.from], newIndex[edge.to], std::move(edge.cost)});
    compacted.nodes[newIndex[edge.from]].edgeTo[newIndex[edge.to]] = e;
    compacted.nodes[newIndex[edge.to]].edgeTo[newIndex[edge.from]] = e;
  }
  network_ = std::move(compacted);
}

std::vector<int> Presolve::expand(const std::vector<int> &reduced) const {
  std::vector<int> choices(originalCount_, 0);
  for (size_t v = 0; v < reduced.size(); ++v)
    choices[originalNode_[v]] = ids_[originalNode_[v]][reduced[v]];
  for (auto removal = removals_.rbegin(); removal != removals_.rend(); ++removal) {
    auto position = [&](int other, const std::vector<int> &ids) -> size_t {
      return other < 0 ? 0 : std::find(ids.begin(), ids.end(), choices[other]) - ids.begin();
    };
    size_t columns = removal->second < 0 ? 1 : removal->secondIds.size();
    size_t a = position(removal->first, removal->firstIds);
    size_t b = position(removal->second, removal->secondIds);
    choices[removal->node] = removal->best[a * columns + b];
  }
  return choices;
}

} // namespace cleave::solver
