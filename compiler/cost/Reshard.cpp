// Dijkstra's algorithm over layouts; each search is resumed for new targets.
#include "compiler/cost/Reshard.h"

#include "compiler/cost/Packing.h"
#include "compiler/cost/ReshardMoves.h"
#include "compiler/cost/Roofline.h"

#include <algorithm>
#include <limits>
#include <queue>

namespace cleave::cost {

// The search from one layout of one tensor to others whose split axes are the same set.
class Resharder::Search {
public:
  Search(const CollectiveCost &collectives, ReshardMoves &moves, const std::vector<int64_t> &shape,
         double elementBytes, int from, int split, MoveSeconds &seconds)
      : collectives_(collectives), moves_(moves), mesh_(collectives.mesh()), shape_(shape),
        elementBytes_(elementBytes), split_(split), seconds_(seconds) {
    offer(from, {});
  }

  // Continues the search until `to` is settled. Returns whether it can be reached.
  bool reach(int to) {
    while (!isSettled(to) && !open_.empty()) {
      const Open next = open_.top();
      open_.pop();
      Reached &state = at(next.layout);
      if (state.isSettled)
        continue; // it was offered more than once
      state.isSettled = true;
      expand(next.layout, next.distance);
    }
    return isSettled(to);
  }

  double seconds(int to) const { return at(to).distance.first; }

  std::vector<ReshardStep> steps(int to) const {
    std::vector<ReshardStep> path;
    for (; at(to).before >= 0; to = at(to).before) {
      const Reached &last = at(to);
      ReshardStep step = moves_.from(last.before, split_)[last.move].step;
      price(step, moves_.layout(last.before));
      path.push_back(std::move(step));
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

private:
  using Distance = std::pair<double, int>; // seconds, then number of steps
  struct Reached {
    Distance distance{0, 0};
    int before = -1; // the layout before the last step
    int move = -1;   // the last step, as one of the moves from there
    bool isSettled = false;
  };
  // A layout to be settled, the nearest first; of equally near ones in the order of layouts.
  struct Open {
    Distance distance;
    int layout = 0;
    const Search *search = nullptr;
    bool operator<(const Open &other) const { // std::priority_queue has the largest in front
      if (distance != other.distance)
        return distance > other.distance;
      const ReshardMoves &moves = search->moves_;
      return layout != other.layout && moves.layout(other.layout) < moves.layout(layout);
    }
  };

  bool isReached(int layout) const {
    return static_cast<size_t>(layout) < places_.size() && places_[layout] >= 0;
  }
  Reached &at(int layout) { return reached_[places_[layout]]; }
  const Reached &at(int layout) const { return reached_[places_[layout]]; }
  bool isSettled(int layout) const { return isReached(layout) && at(layout).isSettled; }

  // Another way to a layout. Does nothing unless it is shorter.
  void offer(int layout, const Reached &way) {
    if (!isReached(layout)) {
      if (static_cast<size_t>(layout) >= places_.size())
        places_.resize(layout + 1, -1);
      places_[layout] = static_cast<int>(reached_.size());
      reached_.push_back(way);
    } else if (way.distance < at(layout).distance) {
      at(layout) = way;
    } else {
      return;
    }
    open_.push({way.distance, layout, this});
  }

  static std::vector<int64_t> padded(std::vector<int64_t> local, int dim, int64_t blocks) {
    local[dim] = (local[dim] + blocks - 1) / blocks * blocks;
    return local;
  }

  double bytesOf(const std::vector<int64_t> &local) const {
    double bytes = elementBytes_;
    for (int64_t size : local)
      bytes *= static_cast<double>(size);
    return bytes;
  }
  double bytesOf(const Sharding &sharding) const {
    return bytesOf(localShape(shape_, sharding, mesh_));
  }

  // Whether blocks of dim `dim` over `axes` consist of whole blocks over `axes` and `more`.
  bool nests(int dim, const std::vector<int> &axes, const std::vector<int> &more) const {
    if (axes.empty())
      return true;
    const int64_t outer = mesh_.ranksAlong(axes), inner = mesh_.ranksAlong(more);
    const int64_t n = shape_[dim], ranks = outer * inner;
    return (n + outer - 1) / outer == (n + ranks - 1) / ranks * inner;
  }

  // Whether the blocks of the tensor permit the step.
  bool nests(const ReshardStep &step, const Sharding &state) const {
    const bool loses =
        !step.fromDim || nests(*step.fromDim, step.result.dims[*step.fromDim], step.axes);
    return loses && (!step.toDim || nests(*step.toDim, state.dims[*step.toDim], step.axes));
  }

  void expand(int layout, Distance start) {
    std::vector<ReshardMove> &moves = moves_.from(layout, split_);
    const std::vector<double> &seconds = secondsFrom(layout, moves);
    for (size_t k = 0; k < moves.size(); ++k) {
      if (seconds[k] < 0)
        continue;
      offer(moves[k].result,
            {{start.first + seconds[k], start.second + 1}, layout, static_cast<int>(k), false});
    }
  }

  // The seconds of all moves from a layout, negative where blocks do not permit the step. Searches
  // from other layouts ask the same.
  const std::vector<double> &secondsFrom(int layout, std::vector<ReshardMove> &moves) {
    auto [known, isNew] = seconds_.try_emplace(layout);
    const Sharding &state = moves_.layout(layout);
    for (size_t k = 0; isNew && k < moves.size(); ++k) {
      const bool isPossible = nests(moves[k].step, state);
      if (isPossible)
        price(moves[k].step, state);
      known->second.push_back(isPossible ? moves[k].step.seconds : -1);
    }
    return known->second;
  }

  // Sets the bytes and seconds of a step from `state`.
  void price(ReshardStep &step, const Sharding &state) const {
    const std::vector<int64_t> local = localShape(shape_, state, mesh_);
    const std::vector<int64_t> after = localShape(shape_, step.result, mesh_);
    const int64_t ranks = mesh_.ranksAlong(step.axes);
    step.packedBytes = step.receivedBytes = 0;
    if (!step.collective) {
      step.bytes = bytesOf(after);
      step.seconds = copySeconds(collectives_.cluster(), step.bytes);
      return;
    }
    // Whole blocks are sent, padded where a dim is split further, and trimmed afterwards.
    step.bytes =
        step.toDim ? bytesOf(padded(local, *step.toDim, ranks))
                   : bytesOf(local) * static_cast<double>(chunksReceived(*step.collective, ranks));
    step.seconds = collectives_.seconds(*step.collective, step.axes, step.bytes);
    if (step.toDim)
      pack(step, local, *step.toDim, ranks, after[*step.toDim]);
    if (step.fromDim)
      unpack(step, after, *step.fromDim, ranks, local[*step.fromDim]);
  }

  // Add the copies from a tensor of this shape to its blocks along `dim`, and back.
  void pack(ReshardStep &step, const std::vector<int64_t> &shape, int dim, int64_t ranks,
            int64_t block) const {
    const Blocks blocks{shape, dim, ranks, block};
    step.packedBytes = stagingBytes(blocks, elementBytes_);
    step.seconds += packSeconds(collectives_.cluster(), blocks, elementBytes_);
  }
  void unpack(ReshardStep &step, const std::vector<int64_t> &shape, int dim, int64_t ranks,
              int64_t block) const {
    const Blocks blocks{shape, dim, ranks, block};
    step.receivedBytes = stagingBytes(blocks, elementBytes_);
    step.seconds += unpackSeconds(collectives_.cluster(), blocks, elementBytes_);
  }

  const CollectiveCost &collectives_;
  ReshardMoves &moves_;
  const Mesh &mesh_;
  const std::vector<int64_t> &shape_;
  double elementBytes_;
  int split_;
  MoveSeconds &seconds_;         // of this tensor and these split axes
  std::vector<Reached> reached_; // in the order of the first ways to them
  std::vector<int> places_;      // per layout, by number, its place in `reached_`; -1: none
  std::priority_queue<Open> open_;
};

Resharder::Resharder(cluster::Cluster cluster, Mesh mesh)
    : collectives_(std::move(cluster), std::move(mesh)),
      moves_(std::make_unique<ReshardMoves>(collectives_.mesh())) {}

Resharder::~Resharder() = default;

// Canonical form: without axes of one rank, and `reduce` is Sum unless the layout is partial.
static Sharding normalised(const Sharding &sharding, const Mesh &mesh) {
  Sharding result = sharding;
  auto isTrivial = [&](int axis) { return mesh.axes[axis].size == 1; };
  for (std::vector<int> &axes : result.dims)
    std::erase_if(axes, isTrivial);
  std::erase_if(result.partial, isTrivial);
  if (result.partial.empty())
    result.reduce = ReduceKind::Sum;
  return result;
}

Resharder::Search &Resharder::searchFrom(const Sharding &from, const Sharding &to,
                                         const std::vector<int64_t> &shape, double elementBytes) {
  std::vector<int> split;
  for (const std::vector<int> &axes : to.dims)
    split.insert(split.end(), axes.begin(), axes.end());
  std::sort(split.begin(), split.end());
  auto [tensor, isNew] =
      tensors_.try_emplace({shape, elementBytes}, static_cast<int>(tensors_.size()));
  const Key key{tensor->second, moves_->number(from), moves_->numberOfSet(split)};
  std::unique_ptr<Search> &search = searches_[key];
  if (!search)
    search = std::make_unique<Search>(collectives_, *moves_, tensor->first.first, elementBytes,
                                      key[1], key[2], moves_->secondsOf(key[0], key[2]));
  return *search;
}

// Whether the partial axes of `to` are partial in `from` with the same reduction.
static bool isReachable(const Sharding &from, const Sharding &to) {
  return to.partial.empty() ||
         (to.reduce == from.reduce && std::includes(from.partial.begin(), from.partial.end(),
                                                    to.partial.begin(), to.partial.end()));
}

std::optional<std::vector<ReshardStep>> Resharder::path(const Sharding &from, const Sharding &to,
                                                        const std::vector<int64_t> &shape,
                                                        double elementBytes) {
  Sharding start = normalised(from, collectives_.mesh());
  Sharding goal = normalised(to, collectives_.mesh());
  if (start == goal)
    return std::vector<ReshardStep>();
  if (!isReachable(start, goal))
    return std::nullopt;
  Search &search = searchFrom(start, goal, shape, elementBytes);
  const int last = moves_->number(goal);
  if (!search.reach(last))
    return std::nullopt;
  return search.steps(last);
}

double Resharder::seconds(const Sharding &from, const Sharding &to,
                          const std::vector<int64_t> &shape, double elementBytes) {
  Sharding start = normalised(from, collectives_.mesh());
  Sharding goal = normalised(to, collectives_.mesh());
  if (start == goal)
    return 0;
  if (!isReachable(start, goal))
    return std::numeric_limits<double>::infinity();
  Search &search = searchFrom(start, goal, shape, elementBytes);
  const int last = moves_->number(goal);
  return search.reach(last) ? search.seconds(last) : std::numeric_limits<double>::infinity();
}

} // namespace cleave::cost
