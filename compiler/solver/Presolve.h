// Presolve: makes a network smaller without losing its best solution, and undoes that for
// solutions.
//
//  * choices that no permitted combination contains are removed;
//  * a node whose choice follows from a neighbour's is merged into that neighbour;
//  * a choice that another one of the same node replaces at no more cost and memory is removed;
//  * a node without memory and with at most two neighbours is minimised over, exactly.
#pragma once

#include "compiler/solver/Network.h"

namespace cleave::solver {

class Presolve {
public:
  // Reduces; result() is the reduced network, whose nodes are numbered anew.
  explicit Presolve(Network network);

  const Network &result() const { return network_; }
  // A node none of whose choices can be permitted (index in the original network), or -1.
  int contradiction() const { return contradiction_; }
  // The choices of the original network's nodes, from those of the reduced one's.
  std::vector<int> expand(const std::vector<int> &reduced) const;
  // The node of the original network that a node of the reduced one stands for.
  int originalNode(int reduced) const { return originalNode_[reduced]; }

private:
  // How a removed node's choice follows from at most two others' (original choice indices).
  struct Removal {
    int node = 0;
    int first = -1, second = -1;
    std::vector<int> firstIds, secondIds; // the others' choices that best[] is about
    std::vector<int> best;                // [first * |second| + second] -> the node's choice
  };

  bool propagate(); // all return whether they changed anything
  bool follow();
  bool dominate();
  bool eliminate();
  bool isConsistent(int v, int i) const;
  bool dominates(int v, int i, int j) const;
  void keepChoices(int v, const std::vector<bool> &keep);
  bool mergeInto(int u, int v);
  void eliminateNode(int v);
  void removeNode(int v);
  void removeEdge(int e);
  void addMatrix(int u, int v, const std::vector<double> &cost);
  void compact();

  Network network_;
  std::vector<bool> alive_;
  std::vector<std::vector<int>> ids_; // per node the original indices of its remaining choices
  std::vector<Removal> removals_;
  std::vector<int> originalNode_;
  size_t originalCount_ = 0;
  int contradiction_ = -1;
};

} // namespace cleave::solver
