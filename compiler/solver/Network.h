// Network: the solver's own form of a Problem. Parallel edges are added up, the least bytes of
// every node are taken off the budgets, and of the time points only those are kept as memory rows
// at which the set of live nodes is a maximal one and where the budget could be exceeded at all.
#pragma once

#include "compiler/solver/Problem.h"

#include <map>

namespace cleave::solver {

// One memory constraint: the bytes at one time point of one space stay within the budget.
struct Row {
  int space = 0;
  int64_t time = 0;
  int64_t budget = 0; // what is left after the least that every node takes
  int64_t taken = 0;  // that least
};

// What a node takes beyond its least on the rows [begin, end).
struct Load {
  int begin = 0;
  int end = 0;
  std::vector<int64_t> bytes; // per choice, the smallest is 0
};

struct NetworkNode {
  std::vector<double> cost;  // per choice
  std::vector<Load> loads;   // that do not overlap, after reduceRows
  std::map<int, int> edgeTo; // neighbour -> edge
  size_t size() const { return cost.size(); }
};

// A matrix between two nodes; from < to.
struct NetworkEdge {
  int from = 0;
  int to = 0;
  std::vector<double> cost; // row-major, rows = choices of `from`
};

struct Network {
  std::vector<NetworkNode> nodes;
  std::vector<NetworkEdge> edges;
  std::vector<Row> rows;
  double constant = 0; // seconds that every solution costs in addition

  // The cost matrix entry of edge `e` when node `v` takes i and its other end takes j.
  double edgeCost(int e, int v, int i, int j) const {
    const NetworkEdge &edge = edges[e];
    return edge.from == v ? edge.cost[i * nodes[edge.to].size() + j]
                          : edge.cost[j * nodes[v].size() + i];
  }
  int otherEnd(int e, int v) const { return edges[e].from == v ? edges[e].to : edges[e].from; }

  double totalCost(const std::vector<int> &choices) const;
  // Bytes per row, beyond what Row::taken counts.
  std::vector<int64_t> usage(const std::vector<int> &choices) const;
};

// The problem must be valid. Its rows are not yet reduced by what can be exceeded (see reduceRows).
Network buildNetwork(const Problem &problem);

// Makes the loads of every node disjoint, takes their least off the rows, drops loads that are the
// same for all choices and rows that cannot be exceeded. Rows with a negative budget stay: they
// prove that nothing fits.
void reduceRows(Network &network);

} // namespace cleave::solver
