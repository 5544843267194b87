// Presolve: reduces a network without losing its best solution, and expands solutions of the
// reduced network.
//
//  * choices that are in no permitted combination are removed;
//  * a node whose choice follows from a neighbour's is merged into that neighbour;
//  * a choice that is dominated, in cost and memory, by another one of its node is removed;
//  * a node without memory and with at most two neighbours is minimised over exactly.
#pragma once

#include "compiler/solver/Network.h"

namespace cleave::solver {

// The reduction of one network.
class Presolve {
public:
  explicit Presolve(Network network);

  // The reduced network; its nodes have new numbers.
  const Network &result() const { return network_; }
  // A node without permitted choices (index in the original network), or -1.
  int contradiction() const { return contradiction_; }
  // The choices of the original network's nodes, from those of the reduced one's.
  std::vector<int> expand(const std::vector<int> &reduced) const;

private:
  // The choice of a removed node as a function of the choices of at most two others (original
  // indices).
  struct Removal {
    int node = 0;
    int first = -1, second = -1;
    std::vector<int> firstIds, secondIds; // the others' choices that index best[]
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
  std::vector<int> originalNode_; // per node of the reduced network
  size_t originalCount_ = 0;
  int contradiction_ = -1;
};

} // namespace cleave::solver
