// Batch: which dims of which values run over the samples of the batch. Found from the first dims of
// inputs and labels by following factors through the step, in both directions.
#pragma once

#include "compiler/planner/StepModel.h"

namespace cleave::planner {

struct Batch {
  // Per value and dim whether its major factor runs over samples.
  std::vector<std::vector<bool>> dims;
  // Per op the factors that do.
  std::vector<std::vector<bool>> factors;

  bool hasFactor(int op) const;
};

Batch findBatch(const StepModel &model);

} // namespace cleave::planner
