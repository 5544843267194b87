// The backward sweep of elimination: min-marginals of all choices from one pass over the tables
// (bucket-tree elimination; K. Kask, R. Dechter, J. Larrosa and A. Dechter, Artificial Intelligence
// 166, 2005).
//
// The groups of an elimination form trees: a group's output is an input of its parent. minimize()
// sends the least costs of the groups below up the trees. Here every group learns `rest`, the
// least cost of everything that is not below it, as a table over its scope, and so the least cost
// of everything for each choice of its own node.
#include "compiler/solver/Elimination.h"

#include <algorithm>

namespace cleave::solver {

static void addTo(std::vector<double> &sums, const double *more) {
  for (size_t i = 0; i < sums.size(); ++i)
    sums[i] += more[i];
}

static void lower(double *least, const std::vector<double> &sums) {
  for (size_t i = 0; i < sums.size(); ++i)
    least[i] = sums[i] < least[i] ? sums[i] : least[i];
}

int64_t Elimination::marginalsWork() const {
  int64_t work = 0;
  for (const Group &group : groups_)
    work += tableSize(group.scope) * group.form[0] * static_cast<int64_t>(2 + group.inputs.size());
  return work;
}

// Per choice of the node of group g the least cost of its tree. Consumes rest[g] and sets `rest` of
// the groups that made its inputs; `maker` is the group that made a table, or -1.
std::vector<double> Elimination::marginalsOf(int g, const std::vector<int> &maker,
                                             std::vector<std::vector<double>> &rest) const {
  const Group &group = groups_[g];
  const size_t choices = network_.nodes[group.node].size(), inputs = group.inputs.size();
  std::vector<double> marginals(choices, kForbidden), sums(choices);
  for (const Input &input : group.inputs)
    if (maker[input.table] >= 0)
      rest[maker[input.table]].assign(tables_[input.table].values.size(), kForbidden);
  // A table is minimised over the combinations of `rows` at which one of its entries is used.
  sweep(group, [&](int64_t index, const TableRows &rows) {
    for (int64_t row = 0; row < rows.rows; ++row) {
      const double outside = rest[g].empty() ? 0 : rest[g][index + row];
      for (size_t i = 0; i < choices; ++i)
        sums[i] = own_[g][i] + outside;
      for (size_t k = 0; k < inputs; ++k)
        addTo(sums, rows.tables[k] + row * rows.strides[k]);
      lower(marginals.data(), sums);
      for (size_t k = 0; k < inputs; ++k)
        if (const int table = group.inputs[k].table; maker[table] >= 0)
          lower(rest[maker[table]].data() +
                    (rows.tables[k] - tables_[table].values.data() + row * rows.strides[k]),
                sums);
    }
  });
  rest[g] = {};
  for (const Input &input : group.inputs)
    if (const int from = maker[input.table]; from >= 0)
      for (size_t k = 0; k < rest[from].size(); ++k)
        if (rest[from][k] < kForbidden)
          rest[from][k] -= tables_[input.table].values[k];
  return marginals;
}

NodeCosts Elimination::marginals() const {
  std::vector<int> maker(tables_.size(), -1), root(groups_.size());
  for (size_t g = 0; g < groups_.size(); ++g)
    if (groups_[g].output >= 0)
      maker[groups_[g].output] = static_cast<int>(g);
  std::vector<double> leastOf(groups_.size()); // of the tree, per root
  NodeCosts result(network_.nodes.size());
  std::vector<std::vector<double>> rest(groups_.size());
  std::vector<NodeCosts> ofGroup(network_.nodes.size());
  double total = 0;
  for (size_t g = groups_.size(); g-- > 0;) {
    std::vector<double> least = marginalsOf(static_cast<int>(g), maker, rest);
    root[g] = groups_[g].parent < 0 ? static_cast<int>(g) : root[groups_[g].parent];
    if (groups_[g].parent < 0)
      total += leastOf[g] = *std::min_element(least.begin(), least.end());
    ofGroup[groups_[g].node].push_back(std::move(least));
  }
  // Groups of different trees are bounds on different parts of the cost: what a choice adds to them
  // adds up. Those of one tree are bounds on the same part.
  for (size_t v = 0; v < result.size(); ++v) {
    std::map<int, std::vector<double>> more; // per root
    for (size_t k = 0; k < ofGroup[v].size(); ++k) {
      const int tree = root[groupsOf_[v][groupsOf_[v].size() - 1 - k]];
      std::vector<double> &most = more[tree];
      most.resize(network_.nodes[v].size(), 0.0);
      for (size_t i = 0; i < most.size(); ++i)
        most[i] = std::max(most[i], ofGroup[v][k][i] - leastOf[tree]);
    }
    result[v].assign(network_.nodes[v].size(), total);
    for (const auto &[tree, most] : more)
      for (size_t i = 0; i < most.size(); ++i)
        result[v][i] += most[i];
  }
  return result;
}

} // namespace cleave::solver
