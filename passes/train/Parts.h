// Parts: the parts of buildTrainingStep, one file each.
#pragma once

#include "passes/train/TrainOptions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cleave::train {

// The name of a parameter's state that is its moving average.
inline constexpr llvm::StringLiteral kAverage = "ema";

// The state that counts the steps, from 0.
inline constexpr const char *kStepCounter = "step";

// A parameter that is trained.
struct Trained {
  unsigned argument; // index among the step's arguments
  mlir::Value gradient;
};

// Gives every dropout a seed that follows from the number of the micro-batch, which becomes a
// state.
void buildDropout(mlir::func::FuncOp step);

// The sum of the losses, with labels as new arguments: the part of a micro-batch, whose mean over
// the micro-batches is the loss of the step. Null after an error was reported.
mlir::Value buildLoss(mlir::OpBuilder &b, mlir::func::FuncOp step,
                      const std::vector<LossOption> &losses, int64_t microBatches);

// The output that a loss names: by its name, by its number among the outputs, or the only one. The
// number of a result of the step; nothing if there is none.
std::optional<unsigned> outputNamed(mlir::func::FuncOp step, mlir::StringRef name);

// Why a step or an evaluation of this model may not be completed by samples whose labels are
// ignored: something else counts them. Empty: nothing does.
std::string whyNotPadded(mlir::func::FuncOp step, const std::vector<LossOption> &losses,
                         bool isEvaluation = false);

// The same losses one by one: results of the step that say how good it is (buildEvaluation). Fails
// after an error was reported.
mlir::LogicalResult buildMetrics(mlir::OpBuilder &b, mlir::func::FuncOp step,
                                 const std::vector<LossOption> &losses);

// The arguments that are trained: float parameters that the options name, or if they name none,
// those that the model file does not freeze. Reports an error at a pattern that matches no
// parameter, of the options or of a group.
mlir::FailureOr<llvm::SmallVector<unsigned>> chooseParameters(mlir::func::FuncOp step,
                                                              const TrainOptions &options);

// Whether the group chooses the parameter.
bool isInGroup(mlir::func::FuncOp step, unsigned argument, const GroupOption &group);

// Casts 16-bit floats to f32, since sums over a batch or over all parameters exceed their range.
mlir::Value widened(mlir::OpBuilder &b, mlir::Value value);

// sqrt(sum of the squares of all gradients).
mlir::Value buildNorm(mlir::OpBuilder &b, llvm::ArrayRef<Trained> trained);

// Scales the gradients down to `maximum` as PyTorch's clip_grad_norm_ does: by min(1, maximum /
// (norm + 1e-6)).
void clip(mlir::OpBuilder &b, mlir::Value norm, double maximum,
          llvm::MutableArrayRef<Trained> trained);

// The scale of the loss in a step with f16 values, whose small range would make small gradients 0.
// It is a state, as is the number of steps since its last change. A step whose gradients overflow
// updates nothing and halves the scale; 2000 steps without overflow double it.
class LossScale {
public:
  // Adds the two states as arguments.
  explicit LossScale(mlir::func::FuncOp step);
  // The loss, multiplied by the scale.
  mlir::Value scaled(mlir::OpBuilder &b, mlir::Value loss) const;
  // Divides the gradients by the scale.
  void unscale(mlir::OpBuilder &b, llvm::MutableArrayRef<Trained> trained) const;
  // Decides by the norm of the gradients whether they overflowed; then the norm becomes 0.
  void check(mlir::OpBuilder &b, mlir::Value &norm);
  // `updated`, or `before` if the gradients overflowed.
  mlir::Value unlessOverflow(mlir::OpBuilder &b, mlir::Value updated, mlir::Value before) const;
  // Adds the new states as results, and the scale as the metric "loss_scale".
  void update(mlir::OpBuilder &b) const;

private:
  mlir::func::FuncOp step_;
  mlir::BlockArgument scale_, goodSteps_;
  mlir::Value isFinite_;
};

// Adds the optimizer's states and hyperparameters as arguments, and new parameters and states as
// results. `scale` is null if the loss is not scaled.
void buildUpdates(mlir::OpBuilder &b, mlir::func::FuncOp step, const TrainOptions &options,
                  llvm::ArrayRef<Trained> trained, const LossScale *scale);

} // namespace cleave::train
