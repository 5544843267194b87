// Order, tables and the two sweeps (towards the last node, and back for the choices).
#include "compiler/solver/Elimination.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <queue>
#include <set>

namespace cleave::solver {

int64_t Elimination::tableSize(const std::vector<int> &scope) const {
  double size = 1;
  for (int v : scope)
    size *= static_cast<double>(network_.nodes[v].size());
  return size > 1e15 ? int64_t(1e15) : static_cast<int64_t>(size);
}

Elimination::Elimination(const Network &network, int64_t maxTableEntries, bool onlyIfExact)
    : network_(network), maxTableEntries_(maxTableEntries) {
  const size_t count = network.nodes.size();
  position_.assign(count, -1);
  groupsOf_.resize(count);
  makeOrder(onlyIfExact);
  if (onlyIfExact && !exact_)
    return;
  // Edges become tables, the earlier node contiguous; then follow the order.
  std::vector<std::vector<int>> tablesOf(count);
  Tables tables;
  for (const NetworkEdge &edge : network.edges) {
    Table table;
    table.isEdge = true;
    table.scope = {edge.from, edge.to};
    table.values = edge.cost;
    if (position_[edge.from] < position_[edge.to]) {
      table.scope = {edge.to, edge.from};
      table.values = tables.transposed(edge.cost, network.nodes[edge.from].size(),
                                       network.nodes[edge.to].size());
    }
    table.number = tables.number(table.values);
    numbers_ = std::max(numbers_, table.number + 1);
    tablesOf[table.scope.back()].push_back(static_cast<int>(tables_.size()));
    tables_.push_back(std::move(table));
  }
  for (int v : order_) {
    makeGroups(v, tablesOf[v]);
    for (int g : groupsOf_[v])
      if (!groups_[g].scope.empty())
        tablesOf[groups_[g].scope.back()].push_back(groups_[g].output);
  }
  for (size_t g = 0; g < groups_.size(); ++g)
    groups_[g].parent = groups_[g].output < 0 ? -1 : tables_[groups_[g].output].user;
  own_.resize(groups_.size());
  countWork();
}

// Counts groups once that have equal inputs whatever the prices are: their nodes have equal costs
// and no loads, and so have all nodes eliminated into their inputs.
void Elimination::countWork() {
  Tables tables;
  ByWords<int64_t> seen;
  std::vector<int64_t> numbers; // per table; those of equal results are equal
  for (const Table &table : tables_)
    numbers.push_back(table.number);
  int64_t next = numbers_;
  for (int v : order_)
    for (int g : groupsOf_[v]) {
      const Group &group = groups_[g];
      Words key = group.form;
      key.push_back(tables.number(network_.nodes[v].cost));
      key.push_back(network_.nodes[v].loads.empty() && groupsOf_[v].size() == 1 ? -1 : g);
      for (const Input &input : group.inputs)
        key.push_back(numbers[input.table]);
      auto [entry, isNew] = seen.try_emplace(std::move(key), next);
      if (group.output >= 0)
        numbers[group.output] = entry->second;
      if (!isNew)
        continue;
      ++next;
      work_ +=
          tableSize(group.scope) * group.form[0] * static_cast<int64_t>(1 + group.inputs.size());
    }
}

// Greedy order: the node whose elimination makes the smallest table comes next.
void Elimination::makeOrder(bool onlyIfExact) {
  const int count = static_cast<int>(network_.nodes.size());
  std::vector<std::set<int>> neighbours(count);
  for (const NetworkEdge &edge : network_.edges) {
    neighbours[edge.from].insert(edge.to);
    neighbours[edge.to].insert(edge.from);
  }
  auto costOf = [&](int v) {
    double size = static_cast<double>(network_.nodes[v].size());
    for (int w : neighbours[v]) {
      size *= static_cast<double>(network_.nodes[w].size());
      if (size > 1e15)
        break;
    }
    return size;
  };
  using Entry = std::pair<double, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  std::vector<double> current(count);
  for (int v = 0; v < count; ++v)
    queue.push({current[v] = costOf(v), v});
  while (!queue.empty()) {
    auto [size, v] = queue.top();
    queue.pop();
    if (position_[v] >= 0 || size != current[v])
      continue;
    position_[v] = static_cast<int>(order_.size());
    order_.push_back(v);
    std::vector<int> scope(neighbours[v].begin(), neighbours[v].end());
    // A table that will be split adds no neighbours: the scopes of its groups are not yet known.
    bool isSplit = size > static_cast<double>(maxTableEntries_) && scope.size() > 1;
    if (isSplit && onlyIfExact) {
      exact_ = false;
      return;
    }
    for (int a : scope) {
      neighbours[a].erase(v);
      if (!isSplit)
        for (int b : scope)
          if (a != b)
            neighbours[a].insert(b);
    }
    for (int a : scope)
      if (double now = costOf(a); now != current[a])
        queue.push({current[a] = now, a});
  }
}

// Forms the groups of v from the tables that contain it.
void Elimination::makeGroups(int v, const std::vector<int> &tables) {
  std::vector<int> bySize = tables;
  std::stable_sort(bySize.begin(), bySize.end(),
                   [&](int a, int b) { return tables_[a].scope.size() > tables_[b].scope.size(); });
  std::vector<std::vector<int>> members;
  std::vector<std::vector<int>> scopes; // without v, latest first
  auto later = [&](int a, int b) { return position_[a] > position_[b]; };
  for (int t : bySize) {
    std::vector<int> scope(tables_[t].scope.begin(), tables_[t].scope.end() - 1);
    bool placed = false;
    for (size_t g = 0; g < members.size() && !placed; ++g) {
      std::vector<int> joined;
      std::set_union(scopes[g].begin(), scopes[g].end(), scope.begin(), scope.end(),
                     std::back_inserter(joined), later);
      if (joined.size() > scopes[g].size() &&
          tableSize(joined) * static_cast<int64_t>(network_.nodes[v].size()) > maxTableEntries_)
        continue;
      members[g].push_back(t);
      scopes[g] = std::move(joined);
      placed = true;
    }
    if (!placed) {
      members.push_back({t});
      scopes.push_back(scope);
    }
  }
  if (members.empty()) {
    members.push_back({});
    scopes.push_back({});
  }
  exact_ &= members.size() == 1;
  for (size_t g = 0; g < members.size(); ++g)
    groupsOf_[v].push_back(addGroup(v, members[g], scopes[g]));
}

int Elimination::addGroup(int v, const std::vector<int> &tables, const std::vector<int> &scope) {
  const int index = static_cast<int>(groups_.size());
  Group group;
  group.node = v;
  group.scope = scope;
  for (int t : tables) {
    Input input{t, std::vector<int64_t>(scope.size(), 0)};
    int64_t stride = 1;
    const std::vector<int> &nodes = tables_[t].scope;
    for (size_t d = nodes.size(); d-- > 0; stride *= network_.nodes[nodes[d]].size())
      if (auto at = std::find(scope.begin(), scope.end(), nodes[d]); at != scope.end())
        input.strides[at - scope.begin()] = stride;
    group.inputs.push_back(std::move(input));
    tables_[t].user = index;
  }
  if (!scope.empty()) {
    group.output = static_cast<int>(tables_.size());
    Table output; // minimize() sets its values
    output.scope = scope;
    tables_.push_back(std::move(output));
  }
  setForm(group);
  groups_.push_back(std::move(group));
  return index;
}

void Elimination::setForm(Group &group) const {
  for (size_t size : {network_.nodes[group.node].size(), group.scope.size(), group.inputs.size()})
    group.form.push_back(static_cast<int64_t>(size));
  for (int v : group.scope)
    group.form.push_back(static_cast<int64_t>(network_.nodes[v].size()));
  for (const Input &input : group.inputs)
    group.form.insert(group.form.end(), input.strides.begin(), input.strides.end());
}

// The result of a group that follows from its inputs and, unless null, its own costs: that of an
// equal group in this call of minimize() or the one before, or compute().
template <typename Compute>
const Elimination::Numbered &
Elimination::remembered(const Group &group, const std::vector<double> *own, Compute compute) {
  Words key = group.form;
  for (const Input &input : group.inputs)
    key.push_back(tables_[input.table].number);
  if (own) {
    const size_t length = key.size();
    key.resize(length + own->size());
    std::memcpy(key.data() + length, own->data(), own->size() * sizeof(double));
  }
  auto [entry, isNew] = results_.try_emplace(std::move(key));
  if (isNew) {
    if (auto known = before_.find(entry->first); known != before_.end())
      entry->second = known->second;
    else
      entry->second = {compute(), numbers_++};
  }
  return entry->second;
}

// Per choice of the group's node the least sum of the inputs.
const CostTable &Elimination::leastInputs(const Group &group) {
  auto compute = [&] {
    std::vector<double> least(network_.nodes[group.node].size(), kForbidden);
    sweep(group, [&](int64_t, const TableRows &rows) { leastPerChoice(rows, least.data()); });
    return least;
  };
  return remembered(group, nullptr, compute).values;
}

// Per combination of the scope's choices the least sum of the inputs and the group's own costs.
CostTable Elimination::least(const Group &group, const std::vector<double> &own) const {
  std::vector<double> output(tableSize(group.scope));
  sweep(group, [&](int64_t index, const TableRows &rows) {
    leastPerRow(rows, own.data(), output.data() + index);
  });
  return output;
}

// Distributes the costs of v over its groups such that all have the same least cost per choice.
void Elimination::balance(int v, const NodeCosts &costs) {
  const std::vector<int> &groups = groupsOf_[v];
  own_[groups[0]] = costs[v];
  if (groups.size() == 1)
    return;
  std::vector<CostTable> least;
  std::vector<double> mean = costs[v];
  for (int g : groups) {
    least.push_back(leastInputs(groups_[g]));
    for (size_t i = 0; i < mean.size(); ++i)
      mean[i] += least.back()[i];
  }
  for (size_t k = 0; k < groups.size(); ++k) {
    own_[groups[k]].resize(mean.size());
    for (size_t i = 0; i < mean.size(); ++i)
      own_[groups[k]][i] = mean[i] == kForbidden
                               ? kForbidden
                               : mean[i] / static_cast<double>(groups.size()) - least[k][i];
  }
}

double Elimination::minimize(const NodeCosts &costs) {
  before_ = std::move(results_);
  results_.clear();
  double bound = 0;
  for (int v : order_) {
    balance(v, costs);
    for (int g : groupsOf_[v]) {
      const Group &group = groups_[g];
      const std::vector<double> &own = own_[g];
      const Numbered &result = remembered(group, &own, [&] { return least(group, own); });
      if (group.output < 0) {
        bound += result.values[0];
      } else {
        tables_[group.output].values = result.values;
        tables_[group.output].number = result.number;
      }
    }
  }
  before_.clear();
  return bound;
}

// Per choice of the group's node the inputs' sum where the scope's nodes take the given choices.
std::vector<double> Elimination::sumAt(const Group &group, const std::vector<int> &choices) const {
  std::vector<double> sums(network_.nodes[group.node].size(), 0.0);
  for (const Input &input : group.inputs) {
    int64_t offset = 0;
    for (size_t d = 0; d < group.scope.size(); ++d)
      offset += input.strides[d] * choices[group.scope[d]];
    const double *values = tables_[input.table].values.data() + offset;
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i] += values[i];
  }
  return sums;
}

static int argmin(const std::vector<double> &values) {
  return static_cast<int>(std::min_element(values.begin(), values.end()) - values.begin());
}

std::vector<int> Elimination::decode() const {
  std::vector<int> choices(network_.nodes.size(), 0);
  for (auto v = order_.rbegin(); v != order_.rend(); ++v) {
    std::vector<double> sums(network_.nodes[*v].size(), 0.0);
    for (int g : groupsOf_[*v]) {
      std::vector<double> part = sumAt(groups_[g], choices);
      for (size_t i = 0; i < sums.size(); ++i)
        sums[i] += part[i] + own_[g][i];
    }
    choices[*v] = argmin(sums);
  }
  return choices;
}

NodeCosts Elimination::support() const {
  NodeCosts fractions(network_.nodes.size());
  for (size_t v = 0; v < fractions.size(); ++v)
    fractions[v].assign(network_.nodes[v].size(), 0.0);
  // Every group inherits the choices of its parent, which has all its nodes except one.
  std::vector<std::vector<int>> taken(groups_.size()); // of the scope, then of the group's own node
  std::vector<int> choices(network_.nodes.size(), 0);
  for (size_t g = groups_.size(); g-- > 0;) {
    const Group &group = groups_[g];
    if (group.parent >= 0) {
      const Group &parent = groups_[group.parent];
      for (size_t d = 0; d < parent.scope.size(); ++d)
        choices[parent.scope[d]] = taken[group.parent][d];
      choices[parent.node] = taken[group.parent].back();
    }
    std::vector<double> sums = sumAt(group, choices);
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i] += own_[g][i];
    for (int w : group.scope)
      taken[g].push_back(choices[w]);
    taken[g].push_back(argmin(sums));
    fractions[group.node][taken[g].back()] +=
        1.0 / static_cast<double>(groupsOf_[group.node].size());
  }
  return fractions;
}

std::unique_ptr<Elimination> makeExact(const Network &network, int64_t affordable) {
  constexpr int64_t kLarge = int64_t(1) << 24; // entries
  auto elimination = std::make_unique<Elimination>(network, kLarge, /*onlyIfExact=*/true);
  return elimination->isExact() && elimination->work() <= affordable ? std::move(elimination)
                                                                     : nullptr;
}

} // namespace cleave::solver
