// AcyclicGraph: nodes that are merged as long as that makes no cycle. Plain data.
//
// The nodes stand in an order, each one behind those that it reads. Whether a path leads from one
// node to another is searched between their places only, from both ends in turns. If there is none,
// the end that was searched completely tells what has to make way for the merged node.
#pragma once

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <vector>

namespace cleave::fuse {

class AcyclicGraph {
public:
  AcyclicGraph() = default;
  // Node i is read by the nodes `readers[i]`, all of which have higher numbers.
  explicit AcyclicGraph(std::vector<llvm::SmallVector<int>> readers);

  // The readers of a node as they were before any node was merged.
  llvm::ArrayRef<int> readersOf(int node) const { return readers_[node]; }
  // Merges two nodes, together with all that they were merged with, unless a path leads from one to
  // the other through a third one. Returns whether it did.
  bool merge(int a, int b);
  // How many nodes all searches have visited.
  size_t visits() const { return visits_; }

private:
  using Edges = std::vector<llvm::SmallVector<int>>;
  // One end of a search for a path.
  struct End {
    const Edges &edges;
    int mark;
    llvm::SmallVector<int> reached; // nodes between the two ends
    size_t visited = 0;             // the first ones, whose edges have been followed
  };
  bool visit(int node, int first, int second, End &end);
  bool isPathOutside(int first, int second, End &forward, End &backward);
  void placeBehind(int before, llvm::SmallVectorImpl<int> &nodes);
  void unlink(int node);
  void renumber();

  Edges readers_, makers_;  // per node, as it was before it was merged
  Edges members_;           // per merged node
  std::vector<int> nodeOf_; // the merged node that a node is in
  std::vector<int> marks_;  // per merged node, of the last search that reached it
  std::vector<int> next_,
      last_;                  // the order, as a list with a node before and one behind all others
  std::vector<int64_t> rank_; // rises along the list
  size_t visits_ = 0;
  int searches_ = 0;
};

} // namespace cleave::fuse
