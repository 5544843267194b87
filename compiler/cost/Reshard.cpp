// Dijkstra's algorithm over layouts; each search is resumed for new targets.
#include "compiler/cost/Reshard.h"

#include "compiler/cost/Packing.h"
#include "compiler/cost/Roofline.h"

#include <algorithm>
#include <limits>
#include <set>

namespace cleave::cost {

using cluster::CollectiveKind;

const char *name(ReshardKind kind) {
  static const char *const names[] = {"slice",      "all_gather",     "all_to_all",
                                      "all_reduce", "reduce_scatter", "permute"};
  return names[static_cast<int>(kind)];
}

class Resharder::Search {
public:
  Search(const CollectiveCost &collectives, const Key &key)
      : collectives_(collectives), mesh_(collectives.mesh()), shape_(key.shape),
        elementBytes_(key.elementBytes), split_(key.split) {
    const Sharding &from = key.from;
    reached_[from] = {};
    open_.insert({{0.0, 0}, from});
  }

  // Continues the search until `to` is settled. Returns whether it can be reached.
  bool reach(const Sharding &to) {
    while (!settled_.count(to) && !open_.empty()) {
      auto [distance, state] = *open_.begin();
      open_.erase(open_.begin());
      settled_.insert(state);
      expand(state);
    }
    return settled_.count(to) > 0;
  }

  double seconds(const Sharding &to) const { return reached_.at(to).distance.first; }

  std::vector<ReshardStep> steps(Sharding to) const {
    std::vector<ReshardStep> path;
    for (const Reached *at = &reached_.at(to); at->distance.second > 0; at = &reached_.at(to)) {
      path.push_back(at->step);
      to = at->before;
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

private:
  using Distance = std::pair<double, int>; // seconds, then number of steps
  struct Reached {
    Distance distance{0, 0};
    Sharding before;
    ReshardStep step;
  };

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

  // All ordered selections of the axes; of more than four axes only those of one or two.
  static std::vector<std::vector<int>> selections(const std::vector<int> &axes) {
    const size_t longest = axes.size() <= 4 ? axes.size() : 2;
    std::vector<std::vector<int>> all;
    for (int axis : axes)
      all.push_back({axis});
    for (size_t k = 0; k < all.size(); ++k) {
      if (all[k].size() == longest)
        continue;
      for (int axis : axes)
        if (std::find(all[k].begin(), all[k].end(), axis) == all[k].end()) {
          std::vector<int> longer = all[k];
          longer.push_back(axis);
          all.push_back(std::move(longer));
        }
    }
    return all;
  }

  // The axes that may become split: split in the target, and unused in this layout.
  std::vector<int> freeAxes(const Sharding &state) const {
    std::vector<bool> used(mesh_.axes.size(), true);
    for (int axis : split_)
      used[axis] = false;
    for (const std::vector<int> &axes : state.dims)
      for (int axis : axes)
        used[axis] = true;
    for (int axis : state.partial)
      used[axis] = true;
    std::vector<int> free;
    for (size_t axis = 0; axis < used.size(); ++axis)
      if (!used[axis])
        free.push_back(static_cast<int>(axis));
    return free;
  }

  void expand(const Sharding &state) {
    slice(state);
    gather(state);
    reduce(state);
    exchange(state);
  }

  void slice(const Sharding &state) {
    for (const std::vector<int> &axes : selections(freeAxes(state)))
      for (size_t d = 0; d < state.dims.size(); ++d) {
        if (!nests(static_cast<int>(d), state.dims[d], axes))
          continue;
        ReshardStep step{
            .kind = ReshardKind::Slice, .axes = axes, .dim = static_cast<int>(d), .result = state};
        append(step.result.dims[d], axes);
        step.bytes = bytesOf(step.result);
        step.seconds = copySeconds(collectives_.cluster(), step.bytes);
        offer(state, std::move(step));
      }
  }

  // All-gathers and all-to-alls, which both take axes from the minor end of a dim.
  void gather(const Sharding &state) {
    for (size_t from = 0; from < state.dims.size(); ++from)
      for (size_t kept = 0; kept < state.dims[from].size(); ++kept) {
        auto middle = state.dims[from].begin() + static_cast<std::ptrdiff_t>(kept);
        std::vector<int> axes(middle, state.dims[from].end());
        Sharding without = state;
        without.dims[from].resize(kept);
        if (!nests(static_cast<int>(from), without.dims[from], axes))
          continue;
        // Whole blocks are sent; trimming follows.
        const std::vector<int64_t> local = localShape(shape_, state, mesh_);
        const int64_t ranks = mesh_.ranksAlong(axes);
        ReshardStep step{.kind = ReshardKind::AllGather,
                         .axes = axes,
                         .dim = static_cast<int>(from),
                         .result = without};
        step.bytes = bytesOf(local) * static_cast<double>(ranks);
        communicate(step, CollectiveKind::AllGather);
        unpack(step, localShape(shape_, without, mesh_), static_cast<int>(from), ranks,
               local[from]);
        offer(state, std::move(step));
        for (size_t to = 0; to < state.dims.size(); ++to) {
          if (to == from || !nests(static_cast<int>(to), state.dims[to], axes))
            continue;
          ReshardStep move{.kind = ReshardKind::AllToAll,
                           .axes = axes,
                           .dim = static_cast<int>(to),
                           .fromDim = static_cast<int>(from),
                           .result = without};
          append(move.result.dims[to], axes);
          const std::vector<int64_t> moved = localShape(shape_, move.result, mesh_);
          move.bytes = bytesOf(padded(local, static_cast<int>(to), ranks));
          communicate(move, CollectiveKind::AllToAll);
          pack(move, local, static_cast<int>(to), ranks, moved[to]);
          unpack(move, moved, static_cast<int>(from), ranks, local[from]);
          offer(state, std::move(move));
        }
      }
  }

  void reduce(const Sharding &state) {
    const std::vector<int64_t> local = localShape(shape_, state, mesh_);
    for (const std::vector<int> &axes : selections(state.partial)) {
      Sharding without = state;
      std::erase_if(without.partial, [&](int axis) {
        return std::find(axes.begin(), axes.end(), axis) != axes.end();
      });
      if (without.partial.empty())
        without.reduce = ReduceKind::Sum;
      if (std::is_sorted(axes.begin(), axes.end())) {
        ReshardStep step{.kind = ReshardKind::AllReduce,
                         .axes = axes,
                         .reduce = state.reduce,
                         .result = without};
        step.bytes = bytesOf(local);
        communicate(step, CollectiveKind::AllReduce);
        offer(state, std::move(step));
      }
      for (size_t d = 0; d < state.dims.size(); ++d) {
        if (!nests(static_cast<int>(d), state.dims[d], axes))
          continue;
        ReshardStep step{.kind = ReshardKind::ReduceScatter,
                         .axes = axes,
                         .dim = static_cast<int>(d),
                         .reduce = state.reduce,
                         .result = without};
        append(step.result.dims[d], axes);
        const int64_t ranks = mesh_.ranksAlong(axes);
        step.bytes = bytesOf(padded(local, static_cast<int>(d), ranks));
        communicate(step, CollectiveKind::ReduceScatter);
        pack(step, local, static_cast<int>(d), ranks, localShape(shape_, step.result, mesh_)[d]);
        offer(state, std::move(step));
      }
    }
  }

  // Permutes: two axes of equal size change roles, or two neighbours within a dim change order.
  void exchange(const Sharding &state) {
    std::vector<int> movable = freeAxes(state);
    const size_t freeCount = movable.size();
    for (const std::vector<int> &axes : state.dims)
      append(movable, axes);
    for (size_t a = 0; a < movable.size(); ++a)
      for (size_t b = std::max(a + 1, freeCount); b < movable.size(); ++b)
        if (mesh_.axes[movable[a]].size == mesh_.axes[movable[b]].size)
          offerPermute(state, swapped(state, movable[a], movable[b]), movable[a], movable[b]);
    for (size_t d = 0; d < state.dims.size(); ++d)
      for (size_t k = 1; k < state.dims[d].size(); ++k) {
        const int a = state.dims[d][k - 1], b = state.dims[d][k];
        if (mesh_.axes[a].size == mesh_.axes[b].size)
          continue; // done above
        Sharding result = state;
        std::swap(result.dims[d][k - 1], result.dims[d][k]);
        offerPermute(state, std::move(result), a, b);
      }
  }

  static Sharding swapped(Sharding state, int a, int b) {
    for (std::vector<int> &axes : state.dims)
      for (int &axis : axes)
        axis = axis == a ? b : axis == b ? a : axis;
    return state;
  }

  void offerPermute(const Sharding &state, Sharding result, int a, int b) {
    ReshardStep step{.kind = ReshardKind::Permute,
                     .axes = {a, b},
                     .toAxes = {b, a},
                     .result = std::move(result)};
    step.bytes = bytesOf(state);
    communicate(step, CollectiveKind::SendRecv);
    offer(state, std::move(step));
  }

  static void append(std::vector<int> &list, const std::vector<int> &more) {
    list.insert(list.end(), more.begin(), more.end());
  }

  void communicate(ReshardStep &step, CollectiveKind kind) const {
    step.seconds = collectives_.seconds(kind, step.axes, step.bytes);
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

  void offer(const Sharding &before, ReshardStep step) {
    const Distance start = reached_.at(before).distance;
    const Distance distance{start.first + step.seconds, start.second + 1};
    auto [place, isNew] = reached_.insert({step.result, {}});
    if (!isNew) {
      if (distance >= place->second.distance)
        return;
      open_.erase({place->second.distance, step.result});
    }
    open_.insert({distance, step.result});
    place->second = {distance, before, std::move(step)};
  }

  const CollectiveCost &collectives_;
  const Mesh &mesh_;
  std::vector<int64_t> shape_;
  double elementBytes_;
  std::vector<int> split_;
  std::map<Sharding, Reached> reached_;
  std::set<std::pair<Distance, Sharding>> open_;
  std::set<Sharding> settled_;
};

Resharder::Resharder(cluster::Cluster cluster, Mesh mesh)
    : collectives_(std::move(cluster), std::move(mesh)) {}

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
  Key key{from, {}, shape, elementBytes};
  for (const std::vector<int> &axes : to.dims)
    key.split.insert(key.split.end(), axes.begin(), axes.end());
  std::sort(key.split.begin(), key.split.end());
  std::unique_ptr<Search> &search = searches_[key];
  if (!search)
    search = std::make_unique<Search>(collectives_, key);
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
  if (!search.reach(goal))
    return std::nullopt;
  return search.steps(goal);
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
  return search.reach(goal) ? search.seconds(goal) : std::numeric_limits<double>::infinity();
}

} // namespace cleave::cost
