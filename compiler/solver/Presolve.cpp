// The reductions, applied until none applies.
#include "compiler/solver/Presolve.h"

#include "compiler/solver/MinPlus.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>

namespace cleave::solver {

// The number of matrix entries by which a merge or an elimination may enlarge the network.
static constexpr int64_t kMaxGrowth = 1 << 12;

Presolve::Presolve(const Problem &problem) : network_(buildNetwork(problem, tables_)) { reduce(); }

Presolve::Presolve(Network network) : network_(std::move(network)) { reduce(); }

void Presolve::reduce() {
  originalCount_ = network_.nodes.size();
  alive_.assign(originalCount_, true);
  isUnchecked_.assign(originalCount_, true);
  isNew_.assign(originalCount_, true);
  isUnfollowed_.assign(originalCount_, true);
  ids_.resize(originalCount_);
  dominator_.resize(originalCount_);
  for (size_t v = 0; v < originalCount_; ++v) {
    originalSize_.push_back(network_.nodes[v].size());
    ids_[v].resize(originalSize_[v]);
    std::iota(ids_[v].begin(), ids_[v].end(), 0);
  }
  propagate();
  dropRows();
  // Ends, since every change removes a choice or a node.
  for (bool changed = true; changed && contradiction_ < 0;) {
    changed = follow();
    changed |= dominate();
    changed |= propagate();
    dropRows();
    changed |= eliminate();
  }
  compact();
  tables_ = {};
  loads_ = {};
  dominators_.clear();
  images_.clear();
  minima_.clear();
  permitted_.clear();
}

// Drops rows that cannot bind, and with them loads, perhaps of all nodes.
void Presolve::dropRows() {
  if (network_.rows.empty())
    return;
  reduceRows(network_);
  isNew_.assign(originalCount_, true);
}

// What the matrix of edge e permits.
const Presolve::Permitted &Presolve::permittedBy(int e) {
  const CostTable &cost = network_.edges[e].cost;
  const size_t columns = network_.nodes[network_.edges[e].to].size();
  auto [entry, isNew] = permitted_.try_emplace(tables_.number(cost));
  Permitted &permitted = entry->second;
  if (!isNew && permitted.columns == columns)
    return permitted;
  permitted = {.columns = columns};
  permitted.isAll = std::find(cost.begin(), cost.end(), kForbidden) == cost.end();
  if (permitted.isAll)
    return permitted;
  permitted.inRow.assign(cost.size() / columns, false);
  permitted.inColumn.assign(columns, false);
  for (size_t k = 0; k < cost.size(); ++k)
    if (cost[k] != kForbidden)
      permitted.inRow[k / columns] = permitted.inColumn[k % columns] = true;
  return permitted;
}

static bool isForbidden(double cost) { return cost == kForbidden; }

// Clears the flags of the choices of v for which edge e permits no choice of its other end w.
void Presolve::dropForbidden(int v, int w, int e, std::vector<bool> &keep) {
  const std::vector<double> &costs = network_.nodes[w].cost;
  if (std::none_of(costs.begin(), costs.end(), isForbidden)) {
    const Permitted &permitted = permittedBy(e);
    const bool isRow = network_.edges[e].from == v;
    for (size_t i = 0; !permitted.isAll && i < keep.size(); ++i)
      keep[i] = keep[i] && (isRow ? permitted.inRow : permitted.inColumn)[i];
    return;
  }
  for (size_t i = 0; i < keep.size(); ++i) {
    bool any = false;
    for (size_t j = 0; j < costs.size() && !any; ++j)
      any = !isForbidden(costs[j]) &&
            !isForbidden(network_.edgeCost(e, v, static_cast<int>(i), static_cast<int>(j)));
    keep[i] = keep[i] && any;
  }
}

bool Presolve::propagate() {
  bool changed = false;
  std::deque<int> queue;
  std::vector<bool> queued(originalCount_, false), keep;
  for (size_t v = 0; v < originalCount_; ++v)
    if (alive_[v] && isUnchecked_[v]) {
      queue.push_back(static_cast<int>(v));
      queued[v] = true;
    }
  while (!queue.empty() && contradiction_ < 0) {
    int v = queue.front();
    queue.pop_front();
    queued[v] = false;
    isUnchecked_[v] = false;
    const NetworkNode &node = network_.nodes[v];
    keep.resize(node.size());
    for (size_t i = 0; i < keep.size(); ++i)
      keep[i] = !isForbidden(node.cost[i]);
    for (auto [w, e] : node.edgeTo)
      dropForbidden(v, w, e, keep);
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

// The matrix of edge e with a row per choice of v.
CostTable Presolve::seenFrom(int v, int e) {
  const NetworkEdge &edge = network_.edges[e];
  return edge.from == v ? edge.cost
                        : tables_.transposed(edge.cost, network_.nodes[edge.from].size(),
                                             network_.nodes[edge.to].size());
}

// Removes the other choices of v from everything indexed by choices of v.
void Presolve::keepChoices(int v, const std::vector<bool> &keep) {
  NetworkNode &node = network_.nodes[v];
  const size_t before = node.size();
  touch(v);
  std::vector<int> kept;
  for (size_t i = 0; i < before; ++i)
    if (keep[i])
      kept.push_back(static_cast<int>(i));
  for (auto [w, e] : node.edgeTo) {
    touch(w);
    NetworkEdge &edge = network_.edges[e];
    const size_t others = network_.nodes[w].size();
    const CostTable rows = tables_.rows(seenFrom(v, e), others, kept);
    edge.cost = edge.from == v ? rows : tables_.transposed(rows, kept.size(), others);
  }
  auto filter = [&](auto &list) {
    for (size_t n = 0; n < kept.size(); ++n)
      list[n] = list[kept[n]];
    list.resize(kept.size());
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
    if (alive_[v] && isUnfollowed_[v])
      queue.push_back(static_cast<int>(v));
  while (!queue.empty()) {
    int u = queue.front();
    queue.pop_front();
    if (!alive_[u])
      continue;
    isUnfollowed_[u] = false;
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

// Per choice of v the only choice of u that edge e permits; empty if that is not one for each.
const std::vector<int> &Presolve::imageOf(int e, int u, int v) {
  const CostTable matrix = seenFrom(v, e);
  const size_t count = network_.nodes[u].size(), choices = network_.nodes[v].size();
  auto [entry, isNew] = images_.try_emplace({tables_.number(matrix), static_cast<int64_t>(count)});
  std::vector<int> &image = entry->second;
  for (size_t j = 0; isNew && j < choices; ++j) {
    auto row = matrix.begin() + static_cast<std::ptrdiff_t>(j * count), end = row + count;
    auto isPermitted = [](double cost) { return cost != kForbidden; };
    auto first = std::find_if(row, end, isPermitted);
    if (first == end || std::find_if(first + 1, end, isPermitted) != end) {
      image.clear();
      break;
    }
    image.push_back(static_cast<int>(first - row));
  }
  return image;
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
  const std::vector<int> &image = imageOf(e, u, v);
  if (image.empty())
    return false; // a choice without any is left to propagate()
  // One to one: moving the node with fewer edges is cheaper.
  if (from.size() == into.size() && from.edgeTo.size() > into.edgeTo.size())
    return mergeInto(v, u);
  int64_t growth = 0;
  for (auto [w, f] : from.edgeTo)
    if (w != v)
      growth += static_cast<int64_t>(network_.nodes[w].size()) * wider;
  if (growth > kMaxGrowth)
    return false;

  removals_.push_back(
      {u, v, -1, ids_[u], ids_[v], {}, std::make_shared<const std::vector<int>>(image)});
  for (size_t j = 0; j < into.size(); ++j)
    into.cost[j] += from.cost[image[j]] + network_.edgeCost(e, u, image[j], static_cast<int>(j));
  for (const Load &load : from.loads) {
    Load moved{load.begin, load.end, {}};
    for (size_t j = 0; j < into.size(); ++j)
      moved.bytes.push_back(load.bytes[image[j]]);
    into.loads.push_back(std::move(moved));
  }
  const Links edges = from.edgeTo;
  for (auto [w, f] : edges)
    if (w != v)
      addMatrix(v, w, tables_.rows(seenFrom(u, f), network_.nodes[w].size(), image));
  removeNode(u);
  return true;
}

// Adds a matrix (rows = choices of u) to the edge between u and v; creates the edge if there is
// none.
void Presolve::addMatrix(int u, int v, const CostTable &cost) {
  touch(u);
  touch(v);
  const CostTable ordered =
      u < v ? cost : tables_.transposed(cost, network_.nodes[u].size(), network_.nodes[v].size());
  const auto [e, isNew] =
      network_.nodes[u].edgeTo.insert({v, static_cast<int>(network_.edges.size())});
  if (isNew) {
    network_.nodes[v].edgeTo.insert({u, e});
    network_.edges.push_back({std::min(u, v), std::max(u, v), ordered});
  } else {
    CostTable &sum = network_.edges[e].cost;
    sum = tables_.sum(sum, ordered);
  }
}

void Presolve::removeEdge(int e) {
  NetworkEdge &edge = network_.edges[e];
  touch(edge.from);
  touch(edge.to);
  network_.nodes[edge.from].edgeTo.erase(edge.to);
  network_.nodes[edge.to].edgeTo.erase(edge.from);
  edge.cost = {};
}

void Presolve::removeNode(int v) {
  const Links edges = network_.nodes[v].edgeTo;
  for (auto [w, e] : edges)
    removeEdge(e);
  network_.nodes[v] = {};
  alive_[v] = false;
}

// Appends what v and its edges cost, as numbers.
void Presolve::addLinks(int v, Words &words) {
  const NetworkNode &node = network_.nodes[v];
  words.push_back(tables_.number(node.cost));
  for (auto [w, e] : node.edgeTo)
    words.push_back(tables_.number(seenFrom(v, e)));
}

namespace {

// The choices of one node with their seconds: alone, and with each choice of its neighbours.
class ChoicePairs {
public:
  // `matrices`: per neighbour, with a row per choice of the node.
  ChoicePairs(const std::vector<double> &own, std::vector<CostTable> matrices)
      : own_(own), matrices_(std::move(matrices)) {
    for (const CostTable &matrix : matrices_)
      for (size_t j = 0, columns = matrix.size() / own_.size(); j < own_.size(); ++j) {
        const double *row = matrix.data() + j * columns;
        cheapest_.push_back(static_cast<size_t>(std::min_element(row, row + columns) - row));
      }
  }

  // Whether i never costs more than j, for all choices of the neighbours.
  bool isNeverDearer(size_t i, size_t j) const {
    if (costsMoreWhereCheap(i, j))
      return false;
    double excess = own_[i] - own_[j];
    for (const CostTable &matrix : matrices_) {
      const size_t columns = matrix.size() / own_.size();
      excess += largestExcess(matrix.data() + i * columns, matrix.data() + j * columns, columns);
    }
    return excess <= 0;
  }

private:
  // Whether i costs more, by more than rounding, with those choices of the neighbours that are the
  // cheapest with j. Most pairs are told apart by it.
  bool costsMoreWhereCheap(size_t i, size_t j) const {
    constexpr double kRounding = 1e-9; // of the sum of all terms
    const size_t count = own_.size();
    double of = own_[i], instead = own_[j], terms = std::abs(of) + std::abs(instead);
    for (size_t m = 0; m < matrices_.size(); ++m) {
      const size_t columns = matrices_[m].size() / count, column = cheapest_[m * count + j];
      const double more = matrices_[m][i * columns + column];
      const double less = matrices_[m][j * columns + column];
      of += more;
      instead += less;
      terms += std::abs(more) + std::abs(less);
    }
    return of == kForbidden ? instead < kForbidden : of - instead > kRounding * terms;
  }

  const std::vector<double> &own_;
  const std::vector<CostTable> matrices_;
  std::vector<size_t> cheapest_; // per neighbour and choice, the column with the least seconds
};

} // namespace

// Per choice of v another one that can always take its place: without ever costing more or needing
// more memory, for all choices of the other nodes. -1 if there is none.
const std::vector<int> &Presolve::dominators(int v) {
  const NetworkNode &node = network_.nodes[v];
  Words words;
  for (const Load &load : node.loads)
    words.push_back(loads_.of(load.bytes));
  words.push_back(-1);
  addLinks(v, words);
  auto [entry, isNew] = dominators_.try_emplace(std::move(words));
  std::vector<int> &by = entry->second;
  if (!isNew)
    return by;
  std::vector<CostTable> matrices;
  for (auto [w, e] : node.edgeTo)
    matrices.push_back(seenFrom(v, e));
  const size_t count = node.size();
  const ChoicePairs pairs(node.cost, std::move(matrices));
  auto dominates = [&](size_t i, size_t j) {
    for (const Load &load : node.loads)
      if (load.bytes[i] > load.bytes[j])
        return false;
    return pairs.isNeverDearer(i, j);
  };
  by.assign(count, -1);
  for (size_t j = 0; j < count; ++j)
    for (size_t i = 0; i < count && by[j] < 0; ++i)
      if (i != j && by[i] < 0 && dominates(i, j))
        by[j] = static_cast<int>(i);
  return by;
}

bool Presolve::dominate() {
  bool changed = false;
  for (size_t v = 0; v < originalCount_ && contradiction_ < 0; ++v) {
    if (!alive_[v] || !isNew_[v])
      continue;
    isNew_[v] = false;
    const std::vector<int> &by = dominators(static_cast<int>(v));
    std::vector<bool> keep(by.size());
    for (size_t j = 0; j < by.size(); ++j) {
      keep[j] = by[j] < 0;
      if (keep[j])
        continue;
      dominator_[v].resize(originalSize_[v], -1);
      dominator_[v][ids_[v][j]] = ids_[v][by[j]];
    }
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
        neighbours.size() == 2 && network_.nodes[neighbours[0]].edgeTo.contains(neighbours[1]);
    if (neighbours.size() == 2 && !isEdge && after > before + kMaxGrowth)
      continue;
    eliminateNode(v);
    changed = true;
    for (int w : neighbours)
      queue.push_back(w);
  }
  return changed;
}

// The best choice of v for every combination of its neighbours' (at most two), and its cost.
Presolve::Minimum Presolve::minimise(int v, const std::vector<int> &neighbours) {
  const NetworkNode &node = network_.nodes[v];
  Words words;
  addLinks(v, words);
  auto [entry, isNew] = minima_.try_emplace(std::move(words));
  if (!isNew)
    return entry->second;
  std::vector<CostTable> matrices; // with a row per choice of the neighbour
  for (int w : neighbours)
    matrices.push_back(seenFrom(w, node.edgeTo.at(w)));
  const size_t choices = node.size();
  const size_t rows = matrices.size() < 1 ? 1 : matrices[0].size() / choices;
  const size_t columns = matrices.size() < 2 ? 1 : matrices[1].size() / choices;
  std::vector<double> cost(rows * columns, kForbidden);
  std::vector<int> best(rows * columns, 0);
  for (size_t a = 0; a < rows; ++a)
    for (size_t b = 0; b < columns; ++b)
      for (size_t i = 0; i < choices; ++i) {
        double sum = node.cost[i];
        if (matrices.size() > 0)
          sum += matrices[0][a * choices + i];
        if (matrices.size() > 1)
          sum += matrices[1][b * choices + i];
        if (sum < cost[a * columns + b]) {
          cost[a * columns + b] = sum;
          best[a * columns + b] = static_cast<int>(i);
        }
      }
  entry->second = {std::move(cost), std::make_shared<const std::vector<int>>(std::move(best))};
  return entry->second;
}

// Replaces v by the cost of its best choice.
void Presolve::eliminateNode(int v) {
  std::vector<int> neighbours;
  for (auto [w, e] : network_.nodes[v].edgeTo)
    neighbours.push_back(w);
  const Minimum least = minimise(v, neighbours);
  Removal removal{v, -1, -1, ids_[v], {}, {}, least.best};
  if (neighbours.size() > 0) {
    removal.first = neighbours[0];
    removal.firstIds = ids_[neighbours[0]];
  }
  if (neighbours.size() > 1) {
    removal.second = neighbours[1];
    removal.secondIds = ids_[neighbours[1]];
  }
  removals_.push_back(std::move(removal));
  removeNode(v);
  if (neighbours.empty())
    network_.constant += least.cost[0];
  else if (neighbours.size() == 1)
    for (size_t a = 0; a < least.cost.size(); ++a)
      network_.nodes[neighbours[0]].cost[a] += least.cost[a];
  else
    addMatrix(neighbours[0], neighbours[1], least.cost);
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
    compacted.nodes[newIndex[edge.from]].edgeTo.insert({newIndex[edge.to], e});
    compacted.nodes[newIndex[edge.to]].edgeTo.insert({newIndex[edge.from], e});
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
    choices[removal->node] = removal->ids[(*removal->best)[a * columns + b]];
  }
  return choices;
}

std::optional<std::vector<int>> Presolve::project(std::vector<int> choices) const {
  for (size_t v = 0; v < originalCount_; ++v)
    while (!dominator_[v].empty() && dominator_[v][choices[v]] >= 0)
      choices[v] = dominator_[v][choices[v]];
  std::vector<int> reduced;
  for (int v : originalNode_) {
    auto place = std::find(ids_[v].begin(), ids_[v].end(), choices[v]);
    if (place == ids_[v].end())
      return std::nullopt;
    reduced.push_back(static_cast<int>(place - ids_[v].begin()));
  }
  return reduced;
}

} // namespace cleave::solver
