// The backward sweep of elimination: min-marginals of all choices from one pass over the tables
// (bucket-tree elimination; K. Kask, R. Dechter, J. Larrosa and A. Dechter, Artificial Intelligence
// 166, 2005).
//
// The groups of an elimination form trees: a group's output is an input of its parent. minimize()
// sends the least costs of the groups below up the trees. Here every group learns the least cost of
// everything else, as a table over its scope, and so the least cost of everything for each choice
// of its own node, and for each pair of choices of an edge that it reads.
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

// Per choice of the node of group g the least cost of its tree. `through`: per table and entry the
// least cost of the tree with this entry. Reads that of the group's output, sets those of its
// inputs.
std::vector<double> Elimination::marginalsOf(int g, bool withPairs,
                                             std::vector<std::vector<double>> &through) const {
  const Group &group = groups_[g];
  const size_t choices = network_.nodes[group.node].size();
  std::vector<double> rest; // the least cost of everything that is not below the group
  if (group.output >= 0) {
    const CostTable &below = tables_[group.output].values;
    rest = std::move(through[group.output]);
    through[group.output] = {};
    for (size_t k = 0; k < rest.size(); ++k)
      if (rest[k] < kForbidden)
        rest[k] -= below[k];
  }
  std::vector<size_t> wanted; // inputs
  for (size_t k = 0; k < group.inputs.size(); ++k)
    if (const int table = group.inputs[k].table; withPairs || !tables_[table].isEdge) {
      wanted.push_back(k);
      through[table].assign(tables_[table].values.size(), kForbidden);
    }
  std::vector<double> marginals(choices, kForbidden), sums(choices);
  sweep(group, [&](int64_t index, const TableRows &rows) {
    for (int64_t row = 0; row < rows.rows; ++row) {
      const double outside = rest.empty() ? 0 : rest[index + row];
      for (size_t i = 0; i < choices; ++i)
        sums[i] = own_[g][i] + outside;
      for (size_t k = 0; k < rows.tables.size(); ++k)
        addTo(sums, rows.tables[k] + row * rows.strides[k]);
      lower(marginals.data(), sums);
      for (size_t k : wanted) {
        const int table = group.inputs[k].table;
        const std::ptrdiff_t entry =
            rows.tables[k] - tables_[table].values.data() + row * rows.strides[k];
        lower(through[table].data() + entry, sums);
      }
    }
  });
  return marginals;
}

// Groups of different trees bound different parts of the cost: what a choice adds to them adds up.
// Those of one tree bound the same part.
NodeCosts Elimination::choiceMarginals(const std::vector<std::vector<double>> &ofGroup,
                                       const std::vector<int> &root,
                                       const std::vector<double> &leastOf, double total) const {
  NodeCosts result;
  for (size_t v = 0; v < network_.nodes.size(); ++v) {
    const size_t choices = network_.nodes[v].size();
    std::map<int, std::vector<double>> more; // per root
    for (int g : groupsOf_[v]) {
      std::vector<double> &most = more[root[g]];
      most.resize(choices, 0.0);
      for (size_t i = 0; i < choices; ++i)
        most[i] = std::max(most[i], ofGroup[g][i] - leastOf[root[g]]);
    }
    result.emplace_back(choices, total);
    for (const auto &[tree, most] : more)
      for (size_t i = 0; i < choices; ++i)
        result[v][i] += most[i];
  }
  return result;
}

// From the costs through the tables of edges, which come first and in the order of the edges.
std::vector<std::vector<double>>
Elimination::pairMarginals(std::vector<std::vector<double>> through, const std::vector<int> &root,
                           const std::vector<double> &leastOf, double total) const {
  through.resize(network_.edges.size());
  for (size_t e = 0; e < through.size(); ++e) {
    const NetworkEdge &edge = network_.edges[e];
    const double others = total - leastOf[root[tables_[e].user]];
    std::vector<double> &pairs = through[e];
    for (double &cost : pairs)
      cost += others;
    if (tables_[e].scope[0] == edge.from)
      continue;
    const size_t rows = network_.nodes[edge.from].size(), columns = network_.nodes[edge.to].size();
    std::vector<double> turned(pairs.size());
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < columns; ++j)
        turned[i * columns + j] = pairs[j * rows + i];
    pairs = std::move(turned);
  }
  return through;
}

Marginals Elimination::marginals(bool withPairs) const {
  std::vector<int> root(groups_.size());
  std::vector<double> leastOf(groups_.size()); // of the tree, per root
  std::vector<std::vector<double>> through(tables_.size()), ofGroup(groups_.size());
  double total = 0;
  for (size_t g = groups_.size(); g-- > 0;) {
    ofGroup[g] = marginalsOf(static_cast<int>(g), withPairs, through);
    root[g] = groups_[g].parent < 0 ? static_cast<int>(g) : root[groups_[g].parent];
    if (groups_[g].parent < 0)
      total += leastOf[g] = *std::min_element(ofGroup[g].begin(), ofGroup[g].end());
  }
  Marginals result;
  result.choices = choiceMarginals(ofGroup, root, leastOf, total);
  if (withPairs)
    result.pairs = pairMarginals(std::move(through), root, leastOf, total);
  return result;
}

} // namespace cleave::solver
