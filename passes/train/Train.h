// Train: turns a forward step into a training step: loss, gradients, clipping and optimizer in one
// function.
#pragma once

#include "passes/precision/Precision.h"
#include "passes/train/TrainOptions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cleave::train {

// Turns `step` (conventions: dialects/graph/Step.h), which computes outputs from inputs and
// parameters, into a training step:
//  * arguments: labels (role "label"), the counter "step" (a state, double, from 0), the learning
//    rates "lr" and `lr/GROUP` (role "hyperparameter", double), the optimizer's states
//    (`PARAM/adam.m`, …) and averages (`PARAM/ema`) are added; parameters that are trained are
//    marked graph.trainable, the others get the role "constant";
//  * with f16 values the states "loss_scale" and "loss_scale.good_steps" are added, too, and the
//    metric "loss_scale"; a step whose gradients overflow leaves parameters and other states as
//    they are, and its grad_norm is 0;
//  * results: outputs are removed; "loss", the metric "grad_norm" (of the trained parameters'
//    gradients, before clipping), new parameters and new states are added, in the order of the
//    parameters.
// Errors are the user's mistakes and are reported at the function. Fills in `precision` if it is
// given.
mlir::LogicalResult buildTrainingStep(mlir::func::FuncOp step, const TrainOptions &options,
                                      precision::Summary *precision = nullptr);

// The end of a message that the loss is missing: the model's outputs, and an option that trains one
// of them.
std::string lossesToChoose(mlir::func::FuncOp step);

// Turns such a step into the evaluation of a micro-batch: no updates, dropout off, batch norms by
// running statistics. Its results, of the role "loss", are the metrics of every loss, under the
// names of runtime/artifact/program.proto (Program.evaluation): `loss` and, of a cross entropy,
// `accuracy`; of several losses `loss.0`, `loss.1` and so on. Labels are added to its
// arguments, and those that it does not use are removed. Errors as of buildTrainingStep.
mlir::LogicalResult buildEvaluation(mlir::func::FuncOp step, const TrainOptions &options);

// Adds the same metrics of the moving averages of the parameters to such an evaluation:
// `ema_loss`, `ema_accuracy`, …. `trained` is the training step, made with TrainOptions.ema, whose
// averages they are. Before its first step the averages are the parameters.
void evaluateAverages(mlir::func::FuncOp evaluation, mlir::func::FuncOp trained);

// Replaces every batch norm by its inference form, which normalises by the running statistics;
// these become constants.
void freezeBatchNorm(mlir::func::FuncOp step);

// Registers --cleave-train-step.
void registerTrainPasses();

} // namespace cleave::train
