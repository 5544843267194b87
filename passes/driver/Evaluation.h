// Evaluation: the second step of a compilation (--eval): the forward pass and the metrics of one
// micro-batch (train::buildEvaluation), planned around the layouts of the training step, so that it
// works on the same parameters. It is a module of its own beside that of the step, and becomes a
// part of the same program (bufferize). In text it is a module @evaluation inside the step's.
#pragma once

#include "compiler/planner/StepModel.h"
#include "passes/driver/Compile.h"
#include "passes/train/TrainOptions.h"

namespace cleave::driver {

// Makes the evaluation of a forward step that `options` are about to make a training step.
Status makeEvaluation(Compilation &c, const train::TrainOptions &options);

// Adds the moving averages of the training step, which is made, to the evaluation.
Status addAverages(Compilation &c);

// Runs `work` with the evaluation in the place of the step; does nothing without one. Remarks of
// `work` are dropped: those on the step say the same.
Status onEvaluation(Compilation &c, llvm::function_ref<Status(Compilation &)> work);

// Plans the evaluation on the mesh of the step that was decided on, whose model is given: arguments
// have the layouts that they have there. Infeasible if it does not fit beside what the step keeps.
Status planEvaluation(Compilation &c, const planner::StepModel &model);

// The module of the step, as it is or with the evaluation inside, for text; and the reverse.
mlir::OwningOpRef<mlir::ModuleOp> withEvaluation(const Compilation &c);
void takeEvaluation(Compilation &c);

} // namespace cleave::driver
