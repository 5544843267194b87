#include "compiler/planner/Batch.h"

#include <algorithm>

namespace cleave::planner {

bool Batch::hasFactor(int op) const {
  return std::find(factors[op].begin(), factors[op].end(), true) != factors[op].end();
}

// The first factor of a dim whose size is not 1, or -1.
static int majorFactor(const FactorRule &rule, const std::vector<int> &dim) {
  for (int f : dim)
    if (rule.factors[f].size.constant() != 1)
      return f;
  return -1;
}

// Exchanges flags between the dims of one value and the factors of an op that reads or makes it.
// Returns whether any flag changed.
static bool exchange(const FactorRule &rule, const FactorRule::Dims &dims,
                     std::vector<bool> &ofValue, std::vector<bool> &ofOp) {
  bool changed = false;
  for (size_t d = 0; d < dims.size(); ++d) {
    int major = majorFactor(rule, dims[d]);
    if (major < 0 || ofValue[d] == ofOp[major])
      continue;
    ofValue[d] = ofOp[major] = true;
    changed = true;
  }
  return changed;
}

Batch findBatch(const StepModel &model) {
  Batch batch;
  for (const Value &value : model.values)
    batch.dims.emplace_back(value.shape.size(), false);
  for (const Op &op : model.ops)
    batch.factors.emplace_back(op.rule.factors.size(), false);
  for (const Argument &argument : model.arguments)
    if ((argument.role == "input" || argument.role == "label") &&
        !batch.dims[argument.value].empty())
      batch.dims[argument.value][0] = true;
  auto exchangeAll = [&](size_t i) {
    const Op &op = model.ops[i];
    bool changed = false;
    for (size_t v = 0; v < op.operands.size(); ++v)
      changed |=
          exchange(op.rule, op.rule.operands[v], batch.dims[op.operands[v]], batch.factors[i]);
    for (size_t v = 0; v < op.results.size(); ++v)
      changed |= exchange(op.rule, op.rule.results[v], batch.dims[op.results[v]], batch.factors[i]);
    return changed;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < model.ops.size(); ++i)
      changed |= exchangeAll(i);
    for (size_t i = model.ops.size(); i-- > 0;)
      changed |= exchangeAll(i);
  }
  return batch;
}

} // namespace cleave::planner
