// Batch: the dims of values that run over the samples of the batch. Found from the first dims of
// inputs and labels, and from what the sender of a message knows of it, by following factors
// through the step, in both directions. In the same way: the dims that run over the positions of
// sequences.
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

// The same for positions of sequences: the dims after the first one of inputs and labels that hold
// no floats. A dim that joins samples and positions runs over samples.
Batch findSequences(const StepModel &model);

} // namespace cleave::planner
