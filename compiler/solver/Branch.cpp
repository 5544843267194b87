// The tree: which nodes are open, and in which order they are visited.
#include "compiler/solver/Branch.h"

#include "compiler/solver/BranchNode.h"

#include <algorithm>
#include <future>

namespace cleave::solver {

namespace {

struct Open {
  BranchNode node;
  int number = 0;                           // of creation, to break ties: the newest first
  bool operator<(const Open &other) const { // std::push_heap keeps the largest in front
    return node.bound != other.node.bound ? node.bound > other.node.bound : number < other.number;
  }
};

class Tree {
public:
  Tree(const Network &network, Search &search, const BranchOptions &options)
      : network_(network), search_(search), options_(options) {}

  BranchResult run(const Ascent &root) {
    ChoiceSet none;
    for (const NetworkNode &node : network_.nodes)
      none.emplace_back(node.size());
    push({root.bound, std::make_shared<const ChoiceSet>(std::move(none)),
          std::make_shared<const Prices>(root.prices)});
    BranchResult result;
    int64_t work = 0;
    while (!open_.empty() && result.branches < options_.maxBranches && work < options_.maxWork &&
           !(options_.isLate && options_.isLate())) {
      const std::vector<BranchNode> batch = next(options_.maxBranches - result.branches);
      result.branches += static_cast<int>(batch.size());
      for (Visited &visited : visitAll(batch)) {
        work += visited.work;
        add(std::move(visited));
      }
    }
    result.isComplete = open_.empty();
    result.bound = std::min(search_.bestCost(), options_.cutoff);
    for (const Open &left : open_)
      result.bound = std::min(result.bound, left.node.bound);
    return result;
  }

private:
  bool isHopeless(double bound) const {
    return bound == kForbidden ||
           isEnough(bound, search_.bestCost(), options_.cutoff, options_.acceptedGap,
                    /*goodGap=*/0);
  }

  void push(BranchNode node) {
    open_.push_back({std::move(node), created_++});
    std::push_heap(open_.begin(), open_.end());
  }

  // The nodes to be visited next, as many as there are threads.
  std::vector<BranchNode> next(int most) {
    std::vector<BranchNode> batch;
    while (!open_.empty() && static_cast<int>(batch.size()) < std::min(options_.threads, most)) {
      std::pop_heap(open_.begin(), open_.end());
      if (!isHopeless(open_.back().node.bound)) // else all others are; popping them is cheap
        batch.push_back(std::move(open_.back().node));
      open_.pop_back();
    }
    return batch;
  }

  std::vector<Visited> visitAll(const std::vector<BranchNode> &batch) const {
    std::vector<std::future<Visited>> visits;
    for (const BranchNode &node : batch) {
      // The last one is visited by this thread.
      const auto policy = &node != &batch.back() ? std::launch::async : std::launch::deferred;
      visits.push_back(std::async(
          policy, [this, &node] { return visit(network_, node, search_.bestCost(), options_); }));
    }
    if (!visits.empty())
      visits.back().wait();
    std::vector<Visited> visited;
    for (std::future<Visited> &one : visits)
      visited.push_back(one.get());
    return visited;
  }

  void add(Visited visited) {
    if (visited.solution)
      search_.offer(std::move(*visited.solution));
    if (isHopeless(visited.bound))
      return;
    const auto prices = std::make_shared<const Prices>(std::move(visited.prices));
    for (ChoiceSet &dropped : visited.children)
      push({visited.bound, std::make_shared<const ChoiceSet>(std::move(dropped)), prices});
  }

  const Network &network_;
  Search &search_;
  const BranchOptions &options_;
  std::vector<Open> open_;
  int created_ = 0;
};

} // namespace

BranchResult branch(const Network &network, const Ascent &root, Search &search,
                    const BranchOptions &options) {
  return Tree(network, search, options).run(root);
}

} // namespace cleave::solver
