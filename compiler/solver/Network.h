// Network: the solver's form of a Problem. Parallel edges are added up, and the least bytes of
// every node are subtracted from the budgets. A time point is kept as a memory row only if the set
// of live nodes is maximal there and the budget can be exceeded.
#pragma once

#include "compiler/solver/Links.h"
#include "compiler/solver/Problem.h"
#include "compiler/solver/Tables.h"

namespace cleave::solver {

// One memory constraint: the bytes at one time point of one space stay within the budget.
struct Row {
  int space = 0;
  int64_t time = 0;
  int64_t budget = 0; // bytes left after `taken`
  int64_t taken = 0;  // least bytes of all nodes together
};

// The bytes that a node takes beyond its least on the rows [begin, end).
struct Load {
  int begin = 0;
  int end = 0;
  std::vector<int64_t> bytes; // per choice, the smallest is 0
};

// A decision.
struct NetworkNode {
  std::vector<double> cost; // per choice
  std::vector<Load> loads;  // disjoint after reduceRows
  Links edgeTo;             // neighbour -> edge
  // The number of choices.
  size_t size() const { return cost.size(); }
};

// A matrix between two nodes; from < to.
struct NetworkEdge {
  int from = 0;
  int to = 0;
  CostTable cost; // row-major, rows = choices of `from`
};

// The network; nodes, edges and rows are referred to by index.
struct Network {
  std::vector<NetworkNode> nodes;
  std::vector<NetworkEdge> edges;
  std::vector<Row> rows;
  double constant = 0; // seconds, part of the cost of every solution

  // The cost matrix entry of edge `e` when node `v` takes i and its other end takes j.
  double edgeCost(int e, int v, int i, int j) const {
    const NetworkEdge &edge = edges[e];
    return edge.from == v ? edge.cost[i * nodes[edge.to].size() + j]
                          : edge.cost[j * nodes[v].size() + i];
  }

  // The cost of the choices, with the constant.
  double totalCost(const std::vector<int> &choices) const;
  // Bytes per row beyond Row::taken.
  std::vector<int64_t> usage(const std::vector<int> &choices) const;
};

// The network of a valid problem, before reduceRows. `tables` computes its tables.
Network buildNetwork(const Problem &problem, Tables &tables);

// Makes the loads of every node disjoint, subtracts their least bytes from the rows, drops loads
// that are equal for all choices and rows that cannot be exceeded. Rows with a negative budget
// stay: they prove infeasibility.
void reduceRows(Network &network);

} // namespace cleave::solver
