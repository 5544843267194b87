// Union of the dims and factors that belong together.
#include "compiler/planner/model/DimClasses.h"

#include <numeric>

namespace cleave::planner {

// The first factor of a dim whose size is not 1, or -1.
static int majorFactor(const FactorRule &rule, const std::vector<int> &dim) {
  for (int f : dim)
    if (rule.factors[f].size.constant() != 1)
      return f;
  return -1;
}

// The representative of a member's class; shortens the way to it.
static int find(std::vector<int> &parent, int member) {
  while (parent[member] != member)
    member = parent[member] = parent[parent[member]];
  return member;
}

DimClasses::DimClasses(const StepModel &model, std::optional<Part> part) {
  size_t count = 0;
  for (const Value &value : model.values) {
    firstOfValue_.push_back(count);
    count += value.shape.size();
  }
  for (const Op &op : model.ops) {
    firstOfOp_.push_back(count);
    count += op.rule.factors.size();
  }
  class_.resize(count);
  std::iota(class_.begin(), class_.end(), 0);
  auto join = [&](size_t op, int value, const FactorRule::Dims &dims) {
    for (size_t d = 0; d < dims.size(); ++d)
      if (const int major = majorFactor(model.ops[op].rule, dims[d]); major >= 0)
        class_[find(class_, static_cast<int>(firstOfValue_[value] + d))] =
            find(class_, static_cast<int>(firstOfOp_[op]) + major);
  };
  for (size_t i = 0; i < model.ops.size(); ++i) {
    const Op &op = model.ops[i];
    if (part && op.part != *part)
      continue;
    for (size_t v = 0; v < op.operands.size(); ++v)
      join(i, op.operands[v], op.rule.operands[v]);
    for (size_t v = 0; v < op.results.size(); ++v)
      join(i, op.results[v], op.rule.results[v]);
  }
  for (size_t i = 0; i < class_.size(); ++i)
    class_[i] = find(class_, static_cast<int>(i));
}

} // namespace cleave::planner
