// Evaluation: the unit beside the step of a training (--eval). It computes the forward pass and the
// metrics of one micro-batch (train::buildEvaluation), planned around the layouts of the training
// step, so that it works on the same parameters.
#pragma once

#include "compiler/planner/model/StepModel.h"
#include "passes/driver/Compile.h"
#include "passes/train/TrainOptions.h"

namespace cleave::driver {

// Adds the unit that evaluates a forward step which `options` are about to make a training step.
Status makeEvaluation(Compilation &c, const train::TrainOptions &options);

// Adds the moving averages of the training step, which is made, to the evaluation.
Status addAverages(Compilation &c);

// Plans the evaluation on the mesh of the step that was decided on, whose model is given: arguments
// have the layouts that they have there. Infeasible if it does not fit beside what the step keeps.
Status planEvaluation(Compilation &c, Unit &unit, const planner::StepModel &model);

} // namespace cleave::driver
