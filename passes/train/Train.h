// The training step: a forward step becomes loss, gradients, clipping and optimizer in one
// function.
#pragma once

#include "passes/train/TrainOptions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cleave {

// Turns `step` (conventions: dialects/graph/Step.h), which computes outputs from inputs and
// parameters, into a training step:
//  * arguments: labels (role "label"), the counter "step" (a state, double, from 0) and the
//    optimizer's states (`PARAM/adam.m`, …, all from 0) come in; parameters that are trained are
//    marked graph.trainable, the other ones get the role "constant";
//  * results: outputs go; "loss" and the metric "grad_norm" (of the trained parameters' gradients,
//    before clipping), new parameters and new states come in, in the order of the parameters.
// Errors are the user's and are reported at the function.
mlir::LogicalResult buildTrainingStep(mlir::func::FuncOp step, const TrainOptions &options);

// Replaces every batch norm by its inference form: running statistics normalise and become
// constants.
void freezeBatchNorm(mlir::func::FuncOp step);

// `--cleave-train-step="loss=A+B optimizer=… clip-norm=… accumulate=… freeze-batch-norm"` on
// modules.
void registerTrainPasses();

} // namespace cleave
