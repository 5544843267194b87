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

#include "compiler/solver/Network.h"

namespace cleave::solver {

// Per node and choice a cost in seconds.
using NodeCosts = std::vector<std::vector<double>>;

// The elimination of one network. Keeps a reference to it.
class Elimination {
public:
  // `maxTableEntries` limits every table except those of single nodes and edges.
  Elimination(const Network &network, int64_t maxTableEntries);

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

  // After minimize(): per node the choices that the groups took, as fractions that sum to one. This
  // is the derivative of the bound in the node costs; with exact elimination it equals decode().
  NodeCosts support() const;

private:
  struct Table {
    std::vector<int> scope; // nodes, the earliest to be eliminated last (and contiguous)
    CostTable values;
    int64_t number = -1; // of the values: equal for tables that share them
    int user = -1;       // the group that reads it
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

  void makeOrder();
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

} // namespace cleave::solver
