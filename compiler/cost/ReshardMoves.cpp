#include "compiler/cost/ReshardMoves.h"

#include <algorithm>

namespace cleave::cost {

int ReshardMoves::number(const Sharding &layout) {
  auto [entry, isNew] = numbers_.try_emplace(layout, static_cast<int>(layouts_.size()));
  if (isNew)
    layouts_.push_back(layout);
  return entry->second;
}

int ReshardMoves::numberOfSet(const std::vector<int> &axes) {
  auto [entry, isNew] = setNumbers_.try_emplace(axes, static_cast<int>(sets_.size()));
  if (isNew)
    sets_.push_back(axes);
  return entry->second;
}

namespace {

// Lists the moves from one layout.
class Enumeration {
public:
  Enumeration(const Mesh &mesh, const Sharding &state, const std::vector<int> &split)
      : mesh_(mesh), state_(state), split_(split) {}

  std::vector<ReshardStep> run() {
    slice();
    gather();
    reduce();
    exchange();
    exchangeRuns();
    return std::move(steps_);
  }

private:
  static void append(std::vector<int> &list, const std::vector<int> &more) {
    list.insert(list.end(), more.begin(), more.end());
  }

  // All ordered selections of the axes; of more than four axes only those of one or two, and runs
  // of axes that follow each other in the mesh.
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
    if (axes.size() > 4)
      for (std::vector<int> &run : runsOf(axes))
        if (run.size() > longest)
          all.push_back(std::move(run));
    return all;
  }

  // The parts of a list in which every axis follows the one before it in the mesh.
  static std::vector<std::vector<int>> runsOf(const std::vector<int> &axes) {
    std::vector<std::vector<int>> runs;
    for (size_t first = 0; first < axes.size(); ++first) {
      std::vector<int> run;
      for (size_t k = first; k < axes.size(); ++k) {
        if (k > first && axes[k] != axes[k - 1] + 1)
          break;
        run.push_back(axes[k]);
        runs.push_back(run);
      }
    }
    return runs;
  }

  // The axes that may become split: split in the target, and unused in this layout.
  std::vector<int> freeAxes() const {
    std::vector<bool> used(mesh_.axes.size(), true);
    for (int axis : split_)
      used[axis] = false;
    for (const std::vector<int> &axes : state_.dims)
      for (int axis : axes)
        used[axis] = true;
    for (int axis : state_.partial)
      used[axis] = true;
    std::vector<int> free;
    for (size_t axis = 0; axis < used.size(); ++axis)
      if (!used[axis])
        free.push_back(static_cast<int>(axis));
    return free;
  }

  void slice() {
    for (const std::vector<int> &axes : selections(freeAxes()))
      for (size_t d = 0; d < state_.dims.size(); ++d) {
        ReshardStep &step = steps_.emplace_back(
            ReshardStep{.axes = axes, .toDim = static_cast<int>(d), .result = state_});
        append(step.result.dims[d], axes);
      }
  }

  // All-gathers and all-to-alls, which both take axes from the minor end of a dim.
  void gather() {
    for (size_t from = 0; from < state_.dims.size(); ++from)
      for (size_t kept = 0; kept < state_.dims[from].size(); ++kept) {
        auto middle = state_.dims[from].begin() + static_cast<std::ptrdiff_t>(kept);
        const std::vector<int> axes(middle, state_.dims[from].end());
        Sharding without = state_;
        without.dims[from].resize(kept);
        steps_.push_back({.collective = CollectiveKind::AllGather,
                          .axes = axes,
                          .fromDim = static_cast<int>(from),
                          .result = without});
        for (size_t to = 0; to < state_.dims.size(); ++to) {
          if (to == from)
            continue;
          ReshardStep &move =
              steps_.emplace_back(ReshardStep{.collective = CollectiveKind::AllToAll,
                                              .axes = axes,
                                              .fromDim = static_cast<int>(from),
                                              .toDim = static_cast<int>(to),
                                              .result = without});
          append(move.result.dims[to], axes);
        }
      }
  }

  void reduce() {
    for (const std::vector<int> &axes : selections(state_.partial)) {
      Sharding without = state_;
      std::erase_if(without.partial, [&](int axis) {
        return std::find(axes.begin(), axes.end(), axis) != axes.end();
      });
      if (without.partial.empty())
        without.reduce = ReduceKind::Sum;
      if (std::is_sorted(axes.begin(), axes.end()))
        steps_.push_back({.collective = CollectiveKind::AllReduce,
                          .axes = axes,
                          .reduce = state_.reduce,
                          .result = without});
      for (size_t d = 0; d < state_.dims.size(); ++d) {
        ReshardStep &step =
            steps_.emplace_back(ReshardStep{.collective = CollectiveKind::ReduceScatter,
                                            .axes = axes,
                                            .toDim = static_cast<int>(d),
                                            .reduce = state_.reduce,
                                            .result = without});
        append(step.result.dims[d], axes);
      }
    }
  }

  // Permutes: two axes of equal size change roles, or two neighbours within a dim change order.
  void exchange() {
    std::vector<int> movable = freeAxes();
    const size_t freeCount = movable.size();
    for (const std::vector<int> &axes : state_.dims)
      append(movable, axes);
    for (size_t a = 0; a < movable.size(); ++a)
      for (size_t b = std::max(a + 1, freeCount); b < movable.size(); ++b)
        if (mesh_.axes[movable[a]].size == mesh_.axes[movable[b]].size)
          permute({movable[a]}, {movable[b]});
    for (const std::vector<int> &axes : state_.dims)
      for (size_t k = 1; k < axes.size(); ++k)
        if (mesh_.axes[axes[k - 1]].size != mesh_.axes[axes[k]].size) // else done above
          permute({axes[k - 1]}, {axes[k]});
  }

  // The same for runs of axes, each of which acts as one axis: a mesh with an axis in several parts
  // permits what the mesh with the whole axis permits.
  void exchangeRuns() {
    const std::vector<std::vector<int>> free = runsOf(freeAxes());
    std::vector<std::vector<int>> split;
    for (const std::vector<int> &axes : state_.dims) {
      for (std::vector<int> &run : runsOf(axes))
        split.push_back(std::move(run));
      exchangeNeighbours(axes);
    }
    for (size_t b = 0; b < split.size(); ++b) {
      for (const std::vector<int> &run : free)
        exchangeRoles(run, split[b]);
      for (size_t a = 0; a < b; ++a)
        exchangeRoles(split[a], split[b]);
    }
  }

  void exchangeRoles(const std::vector<int> &a, const std::vector<int> &b) {
    const bool isApart = std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) == a.end();
    if (a.size() + b.size() > 2 && isApart && mesh_.ranksAlong(a) == mesh_.ranksAlong(b))
      permute(a, b);
  }

  void exchangeNeighbours(const std::vector<int> &axes) {
    const std::vector<std::vector<int>> runs = runsOf(axes);
    for (const std::vector<int> &a : runs)
      for (const std::vector<int> &b : runs) {
        auto end = std::find(axes.begin(), axes.end(), a.back()) + 1;
        if (a.size() + b.size() > 2 && end != axes.end() && *end == b.front() &&
            mesh_.ranksAlong(a) != mesh_.ranksAlong(b))
          permute(a, b);
      }
  }

  // Two lists of axes, each of them free or side by side in a dim, change places.
  void permute(const std::vector<int> &a, const std::vector<int> &b) {
    ReshardStep step{
        .collective = CollectiveKind::Permute, .axes = a, .toAxes = b, .result = state_};
    append(step.axes, b);
    append(step.toAxes, a);
    for (std::vector<int> &axes : step.result.dims) {
      std::vector<int> changed;
      for (int axis : axes)
        if (axis == a.front())
          append(changed, b);
        else if (axis == b.front())
          append(changed, a);
        else if (std::find(step.axes.begin(), step.axes.end(), axis) == step.axes.end())
          changed.push_back(axis);
      axes = std::move(changed);
    }
    steps_.push_back(std::move(step));
  }

  const Mesh &mesh_;
  const Sharding &state_;
  const std::vector<int> &split_;
  std::vector<ReshardStep> steps_;
};

} // namespace

std::vector<ReshardMove> &ReshardMoves::from(int layout, int split) {
  auto [entry, isNew] = moves_.try_emplace(static_cast<int64_t>(layout) << 32 | split);
  std::vector<ReshardMove> &moves = entry->second;
  if (isNew)
    for (ReshardStep &step : Enumeration(mesh_, layouts_[layout], sets_[split]).run()) {
      const int result = number(step.result);
      moves.push_back({std::move(step), result});
    }
  return moves;
}

} // namespace cleave::cost
