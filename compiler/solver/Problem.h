// Problem: a cost network with memory over time, the input of the solver.
//
// Pick exactly one choice per node such that the sum of the choices' and edges' costs is minimal
// and the bytes in use of every memory space never exceed its budget. Read next: Solution.h,
// Solver.h, Check.h (the conditions on a solution).
#pragma once

#include "compiler/solver/ChoiceList.h"
#include "compiler/solver/CostTable.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cleave::solver {

// A memory space, such as one device's memory, the host's, or a file system.
struct MemorySpace {
  std::string name;
  int64_t budget = 0; // bytes
  bool operator==(const MemorySpace &) const = default;
};

// An interval during which a node's choice takes memory: the time points begin, begin + 1, …,
// end - 1 of an abstract clock. An empty interval (end <= begin) takes none.
struct Usage {
  int64_t begin = 0;
  int64_t end = 0;
  int space = 0; // index into Problem::spaces
  bool operator==(const Usage &) const = default;
};

// A decision.
struct Node {
  std::string name;          // for messages
  std::vector<Usage> usages; // when its choices take memory
  ChoiceList choices;        // at least one; nodes with equal choices should share them
  bool operator==(const Node &) const = default;
};

// A cost that depends on the choices of two nodes.
struct Edge {
  int from = 0;
  int to = 0;
  // Seconds, row-major: cost[i * (number of choices of `to`) + j]; kForbidden for pairs that
  // exclude each other. Edges with equal costs should share a table.
  CostTable cost;
  bool operator==(const Edge &) const = default;
};

// The whole network. Nodes and spaces are referred to by index.
struct Problem {
  std::string name; // for messages
  std::vector<MemorySpace> spaces;
  std::vector<Node> nodes;
  std::vector<Edge> edges; // the costs of several edges between two nodes add up
  bool operator==(const Problem &) const = default;
};

// A user error unless all indices and sizes are consistent, no cost is NaN or -infinity, and no
// bytes are negative. The message names the node or edge.
Status validate(const Problem &problem);

} // namespace cleave::solver
