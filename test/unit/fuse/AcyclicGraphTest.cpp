// Merges of random graphs, compared with a search through all paths.
#include "passes/fuse/AcyclicGraph.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <set>

using namespace cleave;

namespace {

using Edges = std::vector<llvm::SmallVector<int>>;

// The same by its definition: nodes are sets, and every merge searches the whole graph.
class SlowGraph {
public:
  explicit SlowGraph(Edges readers) : readers_(std::move(readers)) {
    for (size_t node = 0; node < readers_.size(); ++node)
      nodeOf_.push_back(static_cast<int>(node));
  }

  bool isOneNode(int a, int b) const { return nodeOf_[a] == nodeOf_[b]; }
  bool merge(int a, int b) {
    const int from = nodeOf_[b], into = nodeOf_[a];
    if (isPathOutside(from, into) || isPathOutside(into, from))
      return false;
    std::replace(nodeOf_.begin(), nodeOf_.end(), from, into);
    return true;
  }

private:
  std::set<int> readersOf(int merged) const {
    std::set<int> found;
    for (size_t node = 0; node < readers_.size(); ++node)
      if (nodeOf_[node] == merged)
        for (int reader : readers_[node])
          if (nodeOf_[reader] != merged)
            found.insert(nodeOf_[reader]);
    return found;
  }
  bool isPathOutside(int first, int second) const {
    std::set<int> seen = readersOf(first);
    seen.erase(second);
    std::vector<int> open(seen.begin(), seen.end());
    while (!open.empty()) {
      const int node = open.back();
      open.pop_back();
      for (int next : readersOf(node)) {
        if (next == second)
          return true;
        if (seen.insert(next).second)
          open.push_back(next);
      }
    }
    return false;
  }

  Edges readers_;
  std::vector<int> nodeOf_;
};

} // namespace

TEST_CASE("two nodes merge unless a path between them leads through a third one") {
  // 0 → 1 → 2, 0 → 2, 3
  fuse::AcyclicGraph graph(Edges{{1, 2}, {2}, {}, {}});
  CHECK_FALSE(graph.merge(0, 2));
  CHECK(graph.merge(3, 1));
  CHECK_FALSE(graph.merge(2, 0));
  CHECK(graph.merge(0, 3));
  CHECK(graph.merge(1, 2));
}

TEST_CASE("merges are those of a search through all paths") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    INFO("seed " << seed);
    std::minstd_rand random(seed);
    const int count = 2 + static_cast<int>(random() % 40);
    Edges readers(count);
    for (int node = 0; node < count; ++node)
      for (int reader = node + 1; reader < count; ++reader)
        if (random() % count < 2)
          readers[node].push_back(reader);
    fuse::AcyclicGraph graph(readers);
    SlowGraph slow(readers);
    for (int i = 0; i < 4 * count; ++i) {
      const int a = static_cast<int>(random() % count), b = static_cast<int>(random() % count);
      if (!slow.isOneNode(a, b))
        REQUIRE(graph.merge(a, b) == slow.merge(a, b));
    }
  }
}

TEST_CASE("ranks without room between them are numbered again") {
  // Every second node becomes one with node 0, which makes room at one place again and again.
  constexpr int kCount = 400;
  fuse::AcyclicGraph graph(Edges(kCount, llvm::SmallVector<int>{}));
  for (int node = 1; node < kCount; ++node)
    CHECK(graph.merge(node, 0));
}

TEST_CASE("a search between two ends visits few nodes beside the longer one") {
  // A chain, and nodes that only its last one reads.
  constexpr int kCount = 1000;
  Edges readers(2 * kCount);
  for (int node = 0; node + 1 < kCount; ++node)
    readers[kCount + node] = {kCount + node + 1};
  for (int node = 0; node < kCount; ++node)
    readers[node] = {2 * kCount - 1};
  fuse::AcyclicGraph graph(readers);
  for (int node = 0; node < kCount; ++node)
    CHECK(graph.merge(node, 2 * kCount - 1));
  CHECK(graph.visits() < 10 * kCount);
}
