// Enumeration of the ways to split ops and to store arguments.
#include "compiler/planner/choices/Choices.h"

#include "runtime/base/Alignment.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace cleave::planner {

int64_t localBytes(const Value &value, const Sharding &sharding, const Mesh &mesh) {
  int64_t bytes = byteSize(value.element);
  for (int64_t size : localShape(value.shape, sharding, mesh))
    bytes *= size;
  return bytes;
}

// Uses the alignment of CPUs, since the device is not known here: a lower bound on GPUs.
int64_t storedBytes(int64_t bytes) {
  return alignedTo(bufferAlignment(/*isForGpus=*/false), bytes);
}

int64_t storedBytes(const Value &value, const Sharding &sharding, const Mesh &mesh) {
  return storedBytes(localBytes(value, sharding, mesh));
}

double localFlops(const Op &op, const FactorAxes &factors, const Mesh &mesh) {
  double flops = op.work.flops;
  for (size_t f = 0; f < factors.size(); ++f) {
    double size = static_cast<double>(op.rule.factors[f].size.constant().value_or(1));
    double ranks = static_cast<double>(mesh.ranksAlong(factors[f]));
    if (size > 0)
      flops *= std::ceil(size / ranks) / size;
  }
  return flops;
}

double slowestShare(const Op &op, const FactorAxes &factors, const Mesh &mesh) {
  if (!op.triangle)
    return 1;
  auto block = [&](int factor) {
    const double size = static_cast<double>(op.rule.factors[factor].size.constant().value_or(1));
    return std::ceil(size / static_cast<double>(mesh.ranksAlong(factors[factor])));
  };
  // The last rank computes m (2 M - m) / 2 of its q k pairs of queries and keys, where m and M are
  // the smaller and the larger of q and k. The mean over all ranks is q k / 2.
  const double queries = block(op.triangle->first), keys = block(op.triangle->second);
  return 2 - std::min(queries, keys) / std::max(queries, keys);
}

namespace {

constexpr int kIdle = -1, kPartial = -2; // uses of an axis besides splitting a factor

class OpEnumerator {
public:
  OpEnumerator(const Op &op, const StepModel &model, const Mesh &mesh)
      : op_(op), model_(model), mesh_(mesh) {
    uses_.push_back(kIdle);
    for (size_t f = 0; f < op.rule.factors.size(); ++f)
      if (op.rule.factors[f].kind != FactorKind::Replicated &&
          op.rule.factors[f].size.constant() != 1)
        uses_.push_back(static_cast<int>(f));
    if (op.rule.linear && !op.operands.empty())
      uses_.push_back(kPartial);
  }

  std::vector<OpChoice> run() {
    size_t combinations = 1;
    for (size_t axis = 0; axis < mesh_.axes.size(); ++axis)
      combinations *= uses_.size();
    for (size_t number = 0; number < combinations; ++number)
      addCombination(number);
    return std::move(choices_);
  }

private:
  // Axis i is used for uses_[digit i of number].
  void addCombination(size_t number) {
    OpChoice choice;
    choice.factors.resize(op_.rule.factors.size());
    for (size_t axis = 0; axis < mesh_.axes.size(); ++axis, number /= uses_.size()) {
      int use = uses_[number % uses_.size()];
      if (mesh_.axes[axis].size == 1 && use != kIdle)
        return;
      if (use == kPartial)
        choice.partial.push_back(static_cast<int>(axis));
      else if (use != kIdle)
        choice.factors[use].push_back(static_cast<int>(axis));
    }
    if (!isValidSplit(op_.rule, choice.factors, mesh_))
      return;
    if (op_.group && !projectSplit(*op_.group, op_.rule, choice.factors, mesh_))
      return;
    setLayouts(op_, choice);
    if (combines(choice))
      addResolutions(choice);
  }

  // Whether partial sums along one axis combine in one way.
  bool combines(const OpChoice &choice) const {
    bool isSum = std::all_of(choice.natural.begin(), choice.natural.end(), [](const auto &result) {
      return result.partial.empty() || result.reduce == ReduceKind::Sum;
    });
    return (choice.partial.empty() || isSum) && !mixesKinds(choice.factors);
  }

  // Whether factors with different kinds of reduction are split.
  bool mixesKinds(const FactorAxes &axes) const {
    std::set<ReduceKind> kinds;
    for (size_t f = 0; f < axes.size(); ++f)
      if (!axes[f].empty() && op_.rule.factors[f].kind == FactorKind::Reduction)
        kinds.insert(op_.rule.factors[f].reduce);
    return kinds.size() > 1;
  }

  // The choice with its partial results kept, and every subset of the axes reduced or scattered.
  void addResolutions(OpChoice &choice) {
    choice.results = choice.natural;
    choices_.push_back(choice);
    std::vector<int> partial;
    size_t dims = 0;
    for (const Sharding &natural : choice.natural) {
      partial = std::max(partial, natural.partial);
      dims = std::max(dims, natural.dims.size());
    }
    for (size_t subset = 1; subset < size_t(1) << partial.size(); ++subset) {
      std::vector<int> axes;
      for (size_t i = 0; i < partial.size(); ++i)
        if (subset >> i & 1)
          axes.push_back(partial[i]);
      for (int dim = -1; dim < static_cast<int>(dims); ++dim)
        addResolution(choice, axes, dim);
    }
  }

  // Reduces the axes in every result, and scatters those that have dim `dim` (unless -1) over it.
  void addResolution(OpChoice choice, const std::vector<int> &axes, int dim) {
    bool scatters = false;
    for (size_t i = 0; i < choice.results.size(); ++i) {
      Sharding &result = choice.results[i];
      std::vector<int> mine; // those along which this result is partial
      std::set_intersection(axes.begin(), axes.end(), result.partial.begin(), result.partial.end(),
                            std::back_inserter(mine));
      std::vector<int> rest;
      std::set_difference(result.partial.begin(), result.partial.end(), axes.begin(), axes.end(),
                          std::back_inserter(rest));
      result.partial = rest;
      if (dim < 0 || dim >= static_cast<int>(result.dims.size()) || mine.empty())
        continue;
      result.dims[dim].insert(result.dims[dim].end(), mine.begin(), mine.end());
      const Value &value = model_.values[op_.results[i]];
      if (mesh_.ranksAlong(result.dims[dim]) > value.shape[dim])
        return;
      scatters = true;
    }
    if (scatters == (dim >= 0))
      choices_.push_back(std::move(choice));
  }

  const Op &op_;
  const StepModel &model_;
  const Mesh &mesh_;
  std::vector<int> uses_;
  std::vector<OpChoice> choices_;
};

} // namespace

void setLayouts(const Op &op, OpChoice &choice) {
  for (size_t i = 0; i < op.operands.size(); ++i) {
    choice.operands.push_back(operandSharding(op.rule, i, choice.factors));
    choice.operands.back().partial = choice.partial;
  }
  for (size_t i = 0; i < op.results.size(); ++i) {
    Sharding &result = choice.natural.emplace_back(resultSharding(op.rule, i, choice.factors));
    result.partial.insert(result.partial.end(), choice.partial.begin(), choice.partial.end());
    std::sort(result.partial.begin(), result.partial.end());
  }
}

std::vector<OpChoice> enumerateOp(const Op &op, const StepModel &model, const Mesh &mesh) {
  return OpEnumerator(op, model, mesh).run();
}

// The layouts finer than `base`: some of the axes that it leaves free split one more dim.
static void addFiner(const Sharding &base, const std::vector<int64_t> &shape, const Mesh &mesh,
                     std::vector<ArgumentChoice> &choices) {
  std::vector<int> free;
  for (int axis = 0; axis < static_cast<int>(mesh.axes.size()); ++axis) {
    bool isUsed = mesh.axes[axis].size == 1;
    for (const std::vector<int> &axes : base.dims)
      isUsed |= std::find(axes.begin(), axes.end(), axis) != axes.end();
    if (!isUsed)
      free.push_back(axis);
  }
  for (size_t subset = 1; subset < size_t(1) << free.size(); ++subset)
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      ArgumentChoice choice{base, base};
      for (size_t i = 0; i < free.size(); ++i)
        if (subset >> i & 1)
          choice.storage.dims[dim].push_back(free[i]);
      if (mesh.ranksAlong(choice.storage.dims[dim]) <= shape[dim])
        choices.push_back(std::move(choice));
    }
}

std::vector<ArgumentChoice> enumerateArgument(const std::vector<int64_t> &shape, const Mesh &mesh,
                                              const std::vector<Sharding> &wanted, bool mayGather) {
  std::vector<Sharding> layouts = {Sharding::replicated(shape.size())};
  for (Sharding layout : wanted) {
    layout.partial.clear();
    layout.reduce = ReduceKind::Sum;
    if (std::find(layouts.begin(), layouts.end(), layout) == layouts.end())
      layouts.push_back(std::move(layout));
  }
  std::vector<ArgumentChoice> choices;
  for (const Sharding &layout : layouts) {
    choices.push_back({layout, layout});
    if (mayGather)
      addFiner(layout, shape, mesh, choices);
  }
  return choices;
}

} // namespace cleave::planner
