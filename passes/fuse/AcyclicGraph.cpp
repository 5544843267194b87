// Ranks leave room for others between them, so that few nodes change theirs.
#include "passes/fuse/AcyclicGraph.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using llvm::SmallVectorImpl;

namespace cleave::fuse {

namespace {

constexpr int64_t kRoom = int64_t{1} << 32;

} // namespace

AcyclicGraph::AcyclicGraph(Edges readers)
    : readers_(std::move(readers)), makers_(readers_.size()), nodeOf_(readers_.size()),
      marks_(readers_.size(), -1) {
  const int count = static_cast<int>(readers_.size());
  std::iota(nodeOf_.begin(), nodeOf_.end(), 0);
  for (int node = 0; node < count; ++node) {
    members_.push_back({node});
    for (int reader : readers_[node])
      makers_[reader].push_back(node);
  }
  // Node `count` stands before all others, node `count + 1` behind them.
  const int begin = count, end = count + 1;
  for (int node = 0; node < count; ++node) {
    next_.push_back(node + 1 < count ? node + 1 : end);
    last_.push_back(node > 0 ? node - 1 : begin);
  }
  next_.insert(next_.end(), {count > 0 ? 0 : end, end});
  last_.insert(last_.end(), {begin, count > 0 ? count - 1 : begin});
  rank_.resize(next_.size());
  renumber();
}

bool AcyclicGraph::merge(int a, int b) {
  int first = nodeOf_[a], second = nodeOf_[b];
  if (rank_[first] > rank_[second])
    std::swap(first, second);
  End forward{readers_, 2 * searches_, {}}, backward{makers_, 2 * searches_ + 1, {}};
  ++searches_;
  if (isPathOutside(first, second, forward, backward))
    return false;
  // The merged node takes the place of one of the two. What `first` reaches moves behind `second`,
  // or what reaches `second` before `first`.
  const bool movesForward = forward.visited == forward.reached.size();
  if (movesForward)
    placeBehind(second, forward.reached);
  else
    placeBehind(last_[first], backward.reached);
  const int into = movesForward ? second : first, from = movesForward ? first : second;
  unlink(from);
  for (int member : members_[from])
    nodeOf_[member] = into;
  members_[into].append(members_[from]);
  members_[from].clear();
  return true;
}

// Follows the edges of a node. Returns whether that completes a path.
bool AcyclicGraph::visit(int node, int first, int second, End &end) {
  ++visits_;
  const int other = end.mark ^ 1;
  for (int member : members_[node])
    for (int edge : end.edges[member]) {
      const int next = nodeOf_[edge];
      if (rank_[next] <= rank_[first] || rank_[next] >= rank_[second]) {
        if (node != first && node != second && (next == first || next == second))
          return true;
        continue;
      }
      if (next == node || marks_[next] == end.mark)
        continue;
      if (marks_[next] == other)
        return true;
      marks_[next] = end.mark;
      end.reached.push_back(next);
    }
  return false;
}

bool AcyclicGraph::isPathOutside(int first, int second, End &forward, End &backward) {
  if (visit(first, first, second, forward) || visit(second, first, second, backward))
    return true;
  while (forward.visited < forward.reached.size() && backward.visited < backward.reached.size())
    for (End *end : {&forward, &backward})
      if (visit(end->reached[end->visited++], first, second, *end))
        return true;
  return false;
}

// Moves nodes behind another one, in the order that they have.
void AcyclicGraph::placeBehind(int before, SmallVectorImpl<int> &nodes) {
  llvm::sort(nodes, [&](int a, int b) { return rank_[a] < rank_[b]; });
  const int behind = next_[before];
  const int64_t room = (rank_[behind] - rank_[before]) / static_cast<int64_t>(nodes.size() + 1);
  int last = before;
  for (int node : nodes) {
    unlink(node);
    next_[last] = node;
    last_[node] = last;
    rank_[node] = rank_[last] + room;
    last = node;
  }
  next_[last] = behind;
  last_[behind] = last;
  if (room == 0)
    renumber();
}

void AcyclicGraph::unlink(int node) {
  next_[last_[node]] = next_[node];
  last_[next_[node]] = last_[node];
}

void AcyclicGraph::renumber() {
  const int begin = static_cast<int>(nodeOf_.size()), end = begin + 1;
  int64_t rank = 0;
  for (int node = begin; node != end; node = next_[node])
    rank_[node] = kRoom * rank++;
  rank_[end] = kRoom * rank;
}

} // namespace cleave::fuse
