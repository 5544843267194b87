// The parts of buildTrainingStep, each in a file of its own.
#pragma once

#include "passes/train/TrainOptions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cleave::train {

// A parameter that is trained.
struct Trained {
  unsigned argument;
  mlir::Value gradient;
};

// Seeds for all dropouts, and the number of the micro-batch that they follow from as a state.
void buildDropout(mlir::func::FuncOp step);

// The sum of the losses, with labels as new arguments. Null after an error was reported.
mlir::Value buildLoss(mlir::OpBuilder &b, mlir::func::FuncOp step,
                      const std::vector<LossOption> &losses);

// The arguments that the options let train: float parameters chosen by name, or if no names are given those that
// the model file does not freeze.
mlir::FailureOr<llvm::SmallVector<unsigned>> chooseParameters(mlir::func::FuncOp step,
                                                              const TrainOptions &options);

// Numbers of 16 bits as f32: sums over a batch or over all parameters go beyond what they hold.
mlir::Value widened(mlir::OpBuilder &b, mlir::Value value);

// sqrt(sum of the squares of all gradients).
mlir::Value buildNorm(mlir::OpBuilder &b, llvm::ArrayRef<Trained> trained);

// Scales the gradients down to `maximum` as PyTorch's clip_grad_norm_ does: by min(1, maximum /
// (norm + 1e-6)).
void clip(mlir::OpBuilder &b, mlir::Value norm, double maximum,
          llvm::MutableArrayRef<Trained> trained);

// New parameters and states as results, states as arguments.
void buildUpdates(mlir::OpBuilder &b, mlir::func::FuncOp step, const OptimizerOption &optimizer,
                  llvm::ArrayRef<Trained> trained);

} // namespace cleave::train
