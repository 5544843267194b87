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

// The layouts of the inputs and labels of a step, as rules for those of other units.
std::vector<planner::NamePin> pinsOfInputs(const planner::StepModel &model,
                                           const planner::PlanReport &step);

// Plans the evaluation on the mesh of `step`, the plan of the step with this model: arguments have
// the layouts that they have there, or else those of `others`. Infeasible if it does not fit beside
// what the step keeps.
Result<planner::PlanReport> planEvaluation(const Compilation &c, Unit &unit,
                                           const cluster::Cluster &cluster,
                                           const planner::StepModel &model,
                                           const planner::PlanReport &step,
                                           llvm::ArrayRef<planner::NamePin> others = {});

} // namespace cleave::driver
