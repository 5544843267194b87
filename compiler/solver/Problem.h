// Problem: a cost network with memory over time, the one form in which every planning question is
// asked.
//
// Choose exactly one choice per node so that the sum of the choices' costs and of the edges' costs
// is least, while in every memory space the bytes in use never exceed the budget at any time. Read
// next: Solution.h (the answer), Solver.h (how to ask), Check.h (what a solution must satisfy).
#pragma once

#include "runtime/base/Status.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace cleave::solver {

// The cost of what is forbidden.
inline constexpr double forbidden = std::numeric_limits<double>::infinity();

// A memory space, such as one device's memory, the host's, or a file system.
struct MemorySpace {
  std::string name;
  int64_t budget = 0; // bytes
  bool operator==(const MemorySpace &) const = default;
};

// A time during which a node's choice takes memory: the points begin, begin + 1, … end - 1 of an
// abstract clock. An empty interval (end <= begin) takes none.
struct Usage {
  int64_t begin = 0;
  int64_t end = 0;
  int space = 0; // index into Problem::spaces
  bool operator==(const Usage &) const = default;
};

struct Choice {
  std::string label;          // for people; may be empty
  double cost = 0;            // seconds; `forbidden` if it must not be taken
  std::vector<int64_t> bytes; // one per usage of the node, >= 0
  bool operator==(const Choice &) const = default;
};

struct Node {
  std::string name;
  std::vector<Usage> usages;
  std::vector<Choice> choices; // at least one
  bool operator==(const Node &) const = default;
};

// A cost that depends on the choices of two nodes.
struct Edge {
  int from = 0;
  int to = 0;
  // Seconds, row-major: cost[i * (choices of `to`) + j]; `forbidden` for pairs that exclude each
  // other.
  std::vector<double> cost;
  bool operator==(const Edge &) const = default;
};

struct Problem {
  std::string name;
  std::vector<MemorySpace> spaces;
  std::vector<Node> nodes;
  std::vector<Edge> edges; // two nodes may share several edges: they add up
  bool operator==(const Problem &) const = default;
};

// Whether all indices and sizes fit together, no cost is NaN or -infinity, no bytes are negative.
// The message names the node or edge at fault.
Status validate(const Problem &problem);

} // namespace cleave::solver
