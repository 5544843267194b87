// Elimination: the least cost of a network without its memory rows, by eliminating one node after
// the other (bucket elimination; R. Dechter, Artificial Intelligence 113, 1999).
//
// Eliminating a node sums all tables that mention it and minimises over its choices; the result is
// a table over its neighbours. Where that would be too large, the tables are split into several
// groups (mini-buckets; Dechter and Rish, J. ACM 50, 2003) that are minimised apart, after their
// views of the node's costs have been averaged. The result is then a lower bound only.
//
// The order and all index arithmetic are fixed once; the nodes' costs may change from call to call.
#pragma once

#include "compiler/solver/Network.h"

namespace cleave::solver {

// Per node and choice a cost.
using NodeCosts = std::vector<std::vector<double>>;

class Elimination {
public:
  // No table gets more entries than given (but those of single nodes and edges always fit). Keeps a
  // reference to the network.
  Elimination(const Network &network, int64_t maxTableEntries);

  // Whether no table had to be split, so that minimize() is exact.
  bool isExact() const { return exact_; }
  // The sum of the sizes of all tables: the time of one minimize() in additions, about.
  int64_t work() const { return work_; }

  // A lower bound on (exactly, if isExact) the least sum of these node costs and the edges' costs.
  // The network's own node costs and constant are not used. `forbidden` if nothing is permitted.
  double minimize(const NodeCosts &costs);

  // After minimize(): choices that attain it if exact, else good ones (which may be forbidden).
  std::vector<int> decode() const;

  // After minimize(): per node the choices that the groups took, as fractions that sum to one; the
  // bound's derivative in the node costs. With exact elimination it is the one of decode().
  NodeCosts support() const;

private:
  struct Table {
    std::vector<int> scope; // nodes, the earliest to be eliminated last (and contiguous)
    std::vector<double> values;
    int user = -1; // the group that reads it
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
    int parent = -1; // the group that reads the output, -1 if it is a number
  };

  void makeOrder();
  void makeGroups(int v, const std::vector<int> &tables);
  int addGroup(int v, const std::vector<int> &tables, const std::vector<int> &scope);
  int64_t tableSize(const std::vector<int> &scope) const;
  template <typename Visit> void sweep(const Group &group, Visit visit) const;
  std::vector<double> leastInputs(const Group &group) const;
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
};

} // namespace cleave::solver
