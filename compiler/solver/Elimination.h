// Elimination: the least cost of a network without its memory rows, by eliminating one node after
// the other (bucket elimination; R. Dechter, Artificial Intelligence 113, 1999).
//
// Eliminating a node sums all tables that contain it and minimises over its choices; the result is
// a table over its neighbours. If that table would be too large, the tables are split into several
// groups (mini-buckets; Dechter and Rish, J. ACM 50, 2003) that are minimised separately, after the
// node's costs have been balanced between them. The result is then only a lower bound.
//
// The order and all index arithmetic are fixed once; node costs may change from call to call. Where
// the nodes of repeated layers have equal costs and read equal tables, they are eliminated once:
// results are remembered by the tables they are computed from, from one call to the next.
#pragma once

#include "compiler/solver/MinPlus.h"
#include "compiler/solver/Network.h"

#include <memory>

namespace cleave::solver {

// Per node and choice a cost in seconds.
using NodeCosts = std::vector<std::vector<double>>;

// Lower bounds, in seconds, on the cost of everything that takes a choice or a pair of choices; the
// least costs (min-marginals) if elimination is exact.
struct Marginals {
  NodeCosts choices;                      // per node and choice
  std::vector<std::vector<double>> pairs; // per edge, in the order of NetworkEdge::cost; or empty
};

// The elimination of one network. Keeps a reference to it.
class Elimination {
public:
  // `maxTableEntries` limits every table except those of single nodes and edges. `onlyIfExact`: as
  // soon as a table would have to be split, the construction ends; isExact() is then false, and
  // nothing else may be asked.
  Elimination(const Network &network, int64_t maxTableEntries, bool onlyIfExact = false);

  // Whether no table had to be split, so that minimize() is exact.
  bool isExact() const { return exact_; }
  // The sum of the sizes of all tables, roughly the additions of one minimize(). What nodes without
  // memory share counts once.
  int64_t work() const { return work_; }

  // A lower bound on the least sum of these node costs and the edges' costs; the exact value if
  // isExact(). The network's own node costs and constant are not used. kForbidden if nothing is
  // permitted.
  double minimize(const NodeCosts &costs);

  // After minimize(): choices that attain it if exact, else good choices that may be forbidden.
  std::vector<int> decode() const;

  // After minimize(): per node the choices that the groups took, as fractions that sum to one. With
  // exact elimination it equals decode(); else it is the derivative of the bound in the node costs,
  // but for what the balance between groups changes.
  NodeCosts support() const;

  // After minimize(): the bounds of choices and, with `withPairs`, of pairs, by a second sweep from
  // the last node to the first (Marginals.cpp).
  Marginals marginals(bool withPairs) const;
  // Roughly the additions of one marginals(); equal layers are not shared.
  int64_t marginalsWork() const;

private:
  struct Table {
    std::vector<int> scope; // nodes, the earliest to be eliminated last (and contiguous)
    CostTable values;
    int64_t number = -1; // of the values: equal for tables that share them
    int user = -1;       // the group that reads it
    bool isEdge = false; // of the network; else the output of a group
  };
  struct Input {
    int table = 0;
    std::vector<int64_t> strides; // per node of the group's scope without its own
  };
  // Tables of one node that are minimised over together.
  struct Group {
    int node = 0;
    std::vector<int> scope; // the others, the earliest to be eliminated last
    std::vector<Input> inputs;
    int output = -1; // a table over `scope`
    Words form;      // numbers and sizes of its nodes, and the strides of its inputs
    int parent = -1; // the group that reads the output; -1 if the output is a number
  };

  void makeOrder(bool onlyIfExact);
  void makeGroups(int v, const std::vector<int> &tables);
  int addGroup(int v, const std::vector<int> &tables, const std::vector<int> &scope);
  int64_t tableSize(const std::vector<int> &scope) const;
  void setForm(Group &group) const;
  void countWork();
  template <typename Visit> void sweep(const Group &group, Visit visit) const;
  // A result and its number.
  struct Numbered {
    CostTable values;
    int64_t number = -1;
  };
  template <typename Compute>
  const Numbered &remembered(const Group &group, const std::vector<double> *own, Compute compute);
  const CostTable &leastInputs(const Group &group);
  CostTable least(const Group &group, const std::vector<double> &own) const;
  void balance(int v, const NodeCosts &costs);
  std::vector<double> sumAt(const Group &group, const std::vector<int> &choices) const;
  std::vector<double> marginalsOf(int g, bool withPairs,
                                  std::vector<std::vector<double>> &through) const;
  NodeCosts choiceMarginals(const std::vector<std::vector<double>> &ofGroup,
                            const std::vector<int> &root, const std::vector<double> &leastOf,
                            double total) const;
  std::vector<std::vector<double>> pairMarginals(std::vector<std::vector<double>> through,
                                                 const std::vector<int> &root,
                                                 const std::vector<double> &leastOf,
                                                 double total) const;

  const Network &network_;
  int64_t maxTableEntries_;
  bool exact_ = true;
  int64_t work_ = 0;
  std::vector<int> order_;
  std::vector<int> position_; // of a node in the order
  std::vector<Table> tables_;
  std::vector<Group> groups_;
  std::vector<std::vector<int>> groupsOf_; // per node
  std::vector<std::vector<double>> own_;   // per group the node costs it adds
  int64_t numbers_ = 0;                    // given to values so far
  ByWords<Numbered> results_, before_;     // of this call of minimize(), and of the one before
};

// An elimination that is exact, with tables of at most 2^24 entries, and whose minimize() takes at
// most `affordable` additions; null if there is none.
std::unique_ptr<Elimination> makeExact(const Network &network, int64_t affordable = 200'000'000);

// Calls visit(index, rows) for all combinations of the scope's choices; those of its last node
// share one call. `index` numbers the combinations, the last node varying fastest; `rows` are the
// inputs' entries.
template <typename Visit> void Elimination::sweep(const Group &group, Visit visit) const {
  const size_t dims = group.scope.size();
  TableRows rows;
  rows.choices = network_.nodes[group.node].size();
  rows.rows = dims == 0 ? 1 : static_cast<int64_t>(network_.nodes[group.scope.back()].size());
  for (const Input &input : group.inputs) {
    rows.tables.push_back(tables_[input.table].values.data());
    rows.strides.push_back(dims == 0 ? 0 : input.strides.back());
  }
  std::vector<int> at(dims, 0);
  const int64_t total = tableSize(group.scope);
  for (int64_t index = 0; index < total; index += rows.rows) {
    visit(index, rows);
    for (size_t d = dims - 1; dims > 1 && d-- > 0;) {
      const int size = static_cast<int>(network_.nodes[group.scope[d]].size());
      const bool carry = ++at[d] == size;
      for (size_t k = 0; k < rows.tables.size(); ++k)
        rows.tables[k] +=
            carry ? -group.inputs[k].strides[d] * (size - 1) : group.inputs[k].strides[d];
      if (!carry)
        break;
      at[d] = 0;
    }
  }
}

} // namespace cleave::solver
