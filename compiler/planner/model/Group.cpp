// Carries splits from a group's operands and results through the ops inside, in both directions.
#include "compiler/planner/model/Group.h"

#include <algorithm>

namespace cleave::planner {

namespace {

using DimAxes = std::optional<std::vector<int>>; // of one dim or factor; empty: unknown

class Projection {
public:
  Projection(const Group &group) : group_(group) {
    for (int dims : group.dims)
      values_.emplace_back(dims);
    for (const GroupOp &op : group.ops)
      factors_.emplace_back(op.rule.factors.size());
  }

  // Adds the layout of a value; false if it contradicts what is known.
  bool enter(int value, const Sharding &sharding) {
    for (size_t d = 0; d < sharding.dims.size(); ++d)
      if (!learn(values_[value][d], sharding.dims[d]))
        return false;
    return true;
  }

  bool propagate() {
    do {
      changed_ = false;
      for (size_t i = 0; i < group_.ops.size(); ++i)
        if (!propagateOp(i))
          return false;
      for (size_t i = group_.ops.size(); i-- > 0;)
        if (!propagateOp(i))
          return false;
    } while (changed_);
    return true;
  }

  FactorAxes axesOf(size_t op) const {
    FactorAxes axes;
    for (const DimAxes &factor : factors_[op])
      axes.push_back(factor.value_or(std::vector<int>()));
    return axes;
  }

private:
  bool learn(DimAxes &into, const DimAxes &from) {
    if (!from)
      return true;
    if (into)
      return *into == *from;
    into = from;
    return changed_ = true;
  }

  bool propagateOp(size_t i) {
    const GroupOp &op = group_.ops[i];
    for (size_t v = 0; v < op.operands.size(); ++v)
      if (!propagateValue(i, op.operands[v], op.rule.operands[v]))
        return false;
    for (size_t v = 0; v < op.results.size(); ++v)
      if (!propagateValue(i, op.results[v], op.rule.results[v]))
        return false;
    return true;
  }

  // Exchanges axes between the dims of a value and the factors of an op that reads or makes it. A
  // dim of several factors is split along its major one, the first whose size is not 1.
  bool propagateValue(size_t op, int value, const FactorRule::Dims &dims) {
    const std::vector<Factor> &factors = group_.ops[op].rule.factors;
    for (size_t d = 0; d < dims.size(); ++d) {
      bool majorFound = false;
      for (int f : dims[d]) {
        bool isMajor = !majorFound && factors[f].size.constant() != 1;
        majorFound |= isMajor;
        bool agrees = isMajor ? learn(factors_[op][f], values_[value][d]) &&
                                    learn(values_[value][d], factors_[op][f])
                              : learn(factors_[op][f], std::vector<int>());
        if (!agrees)
          return false;
      }
      if (!majorFound && !learn(values_[value][d], std::vector<int>()))
        return false;
    }
    return true;
  }

  const Group &group_;
  std::vector<std::vector<DimAxes>> values_;  // per value and dim
  std::vector<std::vector<DimAxes>> factors_; // per op and factor
  bool changed_ = false;
};

} // namespace

std::optional<std::vector<FactorAxes>> projectSplit(const Group &group, const FactorRule &rule,
                                                    const FactorAxes &axes, const Mesh &mesh) {
  Projection projection(group);
  for (size_t i = 0; i < group.arguments.size(); ++i)
    if (!projection.enter(group.arguments[i], operandSharding(rule, i, axes)))
      return std::nullopt;
  for (size_t i = 0; i < group.yielded.size(); ++i)
    if (!projection.enter(group.yielded[i], resultSharding(rule, i, axes)))
      return std::nullopt;
  if (!projection.propagate())
    return std::nullopt;
  std::vector<FactorAxes> result;
  for (size_t i = 0; i < group.ops.size(); ++i) {
    result.push_back(projection.axesOf(i));
    if (!isValidSplit(group.ops[i].rule, result.back(), mesh))
      return std::nullopt;
  }
  return result;
}

} // namespace cleave::planner
