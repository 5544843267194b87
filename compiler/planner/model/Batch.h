// Batch: the dims of values that run over the samples of the batch. Found from the first dims of
// inputs and labels by following factors through the step, in both directions.
#pragma once

#include "compiler/planner/model/StepModel.h"

namespace cleave::planner {

struct Batch {
  // Per value and dim, whether its major factor runs over samples.
  std::vector<std::vector<bool>> dims;
  // Per op and factor, whether it runs over samples.
  std::vector<std::vector<bool>> factors;

  // Whether any factor of the op runs over samples.
  bool hasFactor(int op) const;
};

// The batch of a step.
Batch findBatch(const StepModel &model);

} // namespace cleave::planner
