#include "compiler/planner/model/Batch.h"

#include "compiler/planner/model/DimClasses.h"

#include <algorithm>

namespace cleave::planner {

bool Batch::hasFactor(int op) const {
  return std::find(factors[op].begin(), factors[op].end(), true) != factors[op].end();
}

// The dims and factors of the classes of those dims of inputs and labels that `begins` accepts, and
// of the dims `known` of messages.
template <typename Predicate>
static Batch follow(const StepModel &model, Predicate begins, std::vector<int> Argument::*known) {
  const DimClasses classes(model);
  std::vector<bool> isMember(classes.limit());
  for (const Argument &argument : model.arguments) {
    const Value &value = model.values[argument.value];
    for (size_t d = 0; d < value.shape.size(); ++d)
      if ((argument.role == Role::Input || argument.role == Role::Label) && begins(value, d))
        isMember[classes.ofDim(argument.value, d)] = true;
    for (int d : argument.*known)
      isMember[classes.ofDim(argument.value, static_cast<size_t>(d))] = true;
  }
  Batch batch;
  for (size_t v = 0; v < model.values.size(); ++v) {
    batch.dims.emplace_back();
    for (size_t d = 0; d < model.values[v].shape.size(); ++d)
      batch.dims.back().push_back(isMember[classes.ofDim(static_cast<int>(v), d)]);
  }
  for (size_t i = 0; i < model.ops.size(); ++i) {
    batch.factors.emplace_back();
    for (size_t f = 0; f < model.ops[i].rule.factors.size(); ++f)
      batch.factors.back().push_back(isMember[classes.ofFactor(static_cast<int>(i), f)]);
  }
  return batch;
}

Batch findBatch(const StepModel &model) {
  return follow(model, [](const Value &, size_t dim) { return dim == 0; }, &Argument::samples);
}

Batch findSequences(const StepModel &model) {
  return follow(
      model, [](const Value &value, size_t dim) { return dim > 0 && !isFloat(value.element); },
      &Argument::positions);
}

} // namespace cleave::planner
