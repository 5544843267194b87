// Presolve: reduces a network without losing its best solution, and expands solutions of the
// reduced network.
//
//  * choices that are in no permitted combination are removed;
//  * a node whose choice follows from a neighbour's is merged into that neighbour;
//  * a choice that is dominated, in cost and memory, by another one of its node is removed;
//  * a node without memory and with at most two neighbours is minimised over exactly.
//
// Nodes of repeated layers have equal costs and share their tables; each question about them is
// answered once (Tables.h).
#pragma once

#include "compiler/solver/Network.h"

#include <optional>

namespace cleave::solver {

// The reduction of one network.
class Presolve {
public:
  explicit Presolve(const Problem &problem);
  explicit Presolve(Network network);

  // The reduced network; its nodes have new numbers.
  const Network &result() const { return network_; }
  // A node without permitted choices (index in the original network), or -1.
  int contradiction() const { return contradiction_; }
  // The original node of a node of the reduced network, and the original one of its choice i.
  int originalNode(size_t v) const { return originalNode_[v]; }
  int originalChoice(size_t v, size_t i) const { return ids_[originalNode_[v]][i]; }
  // The choices of the original network's nodes, from those of the reduced one's.
  std::vector<int> expand(const std::vector<int> &reduced) const;
  // The inverse: the reduced network's choices for permitted choices of the original's nodes.
  // Removed choices are replaced by those that dominate them, which cost no more and fit where they
  // fit. Nothing if a choice was removed for another reason.
  std::optional<std::vector<int>> project(std::vector<int> choices) const;

private:
  // Per choice, or pair of choices, of the others the choice of a removed node.
  using Best = std::shared_ptr<const std::vector<int>>;
  // The choice of a removed node as a function of the choices of at most two others (original
  // indices).
  struct Removal {
    int node = 0;
    int first = -1, second = -1;
    std::vector<int> ids, firstIds, secondIds; // original indices of the choices of the three
    Best best;                                 // [first * |second| + second] -> of `ids`
  };
  // The least cost of a node for every combination of its neighbours' choices.
  struct Minimum {
    CostTable cost;
    Best best;
  };

  // Per row and column of a matrix whether it permits any pair.
  struct Permitted {
    size_t columns = 0; // of the matrix
    bool isAll = true;  // every pair; the lists are then empty
    std::vector<bool> inRow, inColumn;
  };

  bool propagate(); // all return whether they changed anything
  bool follow();
  bool dominate();
  bool eliminate();
  void dropRows();
  void touch(int v) { isUnchecked_[v] = isNew_[v] = isUnfollowed_[v] = true; }
  const Permitted &permittedBy(int e);
  void dropForbidden(int v, int w, int e, std::vector<bool> &keep);
  CostTable seenFrom(int v, int e);
  void addLinks(int v, Words &words);
  const std::vector<int> &dominators(int v);
  void keepChoices(int v, const std::vector<bool> &keep);
  const std::vector<int> &imageOf(int e, int u, int v);
  bool mergeInto(int u, int v);
  Minimum minimise(int v, const std::vector<int> &neighbours);
  void eliminateNode(int v);
  void removeNode(int v);
  void removeEdge(int e);
  void addMatrix(int u, int v, const CostTable &cost);
  void reduce();
  void compact();

  Tables tables_;
  Network network_;
  std::vector<bool> alive_;
  // Per node, whether it or a neighbour changed since propagate(), dominate() and follow() asked
  // about it.
  std::vector<bool> isUnchecked_, isNew_, isUnfollowed_;
  std::vector<std::vector<int>> ids_; // per node the original indices of its remaining choices
  // Per node and choice the one that it was removed for, or -1 (original indices); empty: none was.
  std::vector<std::vector<int>> dominator_;
  std::vector<size_t> originalSize_; // per node, of its choices
  std::vector<Removal> removals_;
  std::vector<int> originalNode_; // per node of the reduced network
  size_t originalCount_ = 0;
  int contradiction_ = -1;
  // Answers by what they depend on.
  Numbering<std::vector<int64_t>> loads_;
  ByWords<std::vector<int>> dominators_;
  ByWords<std::vector<int>> images_;
  ByWords<Minimum> minima_;
  std::unordered_map<int64_t, Permitted> permitted_; // per number of a table
};

} // namespace cleave::solver
