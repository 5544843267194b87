#include "compiler/planner/model/Batch.h"

#include "compiler/planner/model/DimClasses.h"

#include <algorithm>

namespace cleave::planner {

bool Batch::hasFactor(int op) const {
  return std::find(factors[op].begin(), factors[op].end(), true) != factors[op].end();
}

Batch findBatch(const StepModel &model) {
  const DimClasses classes(model);
  std::vector<bool> isBatch(classes.limit());
  for (const Argument &argument : model.arguments)
    if ((argument.role == Role::Input || argument.role == Role::Label) &&
        !model.values[argument.value].shape.empty())
      isBatch[classes.ofDim(argument.value, 0)] = true;
  Batch batch;
  for (size_t v = 0; v < model.values.size(); ++v) {
    batch.dims.emplace_back();
    for (size_t d = 0; d < model.values[v].shape.size(); ++d)
      batch.dims.back().push_back(isBatch[classes.ofDim(static_cast<int>(v), d)]);
  }
  for (size_t i = 0; i < model.ops.size(); ++i) {
    batch.factors.emplace_back();
    for (size_t f = 0; f < model.ops[i].rule.factors.size(); ++f)
      batch.factors.back().push_back(isBatch[classes.ofFactor(static_cast<int>(i), f)]);
  }
  return batch;
}

} // namespace cleave::planner
