// WholeStep: what the loss of a micro-batch takes from the whole step. A mean over the labels that
// count divides by their number in all micro-batches of the step, which follows from the labels
// alone: the step gets them all as one more argument (graph.all_of), and counts them before it
// differentiates.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace cleave::train {

// The quotient of a sum over labels and their number or weight: NaN without any, and then without
// gradient.
mlir::Value quotient(mlir::OpBuilder &b, mlir::Value sum, mlir::Value count);

class WholeStep {
public:
  // Both of the step, whose loss is being built.
  WholeStep(mlir::func::FuncOp step, int64_t microBatches)
      : step_(step), microBatches_(microBatches) {}

  int64_t microBatches() const { return microBatches_; }

  // The argument with all micro-batches of an input or label with at least one dim.
  mlir::Value allOf(mlir::Value argument);

  // A part of a loss, whose mean over the micro-batches is the loss of the step:
  // of a sum over the samples
  mlir::Value partOfSum(mlir::OpBuilder &b, mlir::Value sum) const;
  // of `sum` / `count`, where `all` is the count of the whole step
  mlir::Value partOfQuotient(mlir::OpBuilder &b, mlir::Value sum, mlir::Value all) const;
  // of a mean over `count` labels that is NaN without any
  mlir::Value partOfMean(mlir::OpBuilder &b, mlir::Value mean, mlir::Value count,
                         mlir::Value all) const;
  // of an output of the model: its cross entropies and its quotients by sums over inputs, as far as
  // the loss is linear in them; whatever else it holds is a mean over the samples. Warns about
  // other uses of such numbers of labels, which count equally in every micro-batch.
  mlir::Value partOfOutput(mlir::OpBuilder &b, mlir::Value loss, mlir::StringRef name);

private:
  friend class LossTerms;
  // Ops that compute `value` from inputs, labels and constants alone, in program order; none if
  // something else takes part, or no input.
  std::optional<llvm::SmallVector<mlir::Operation *>> opsOfInputs(mlir::Value value) const;
  // The sum of `value` over all micro-batches; null unless it follows from the inputs.
  mlir::Value total(mlir::OpBuilder &b, mlir::Value value);
  // Computes the number `value` with sums over the samples of the whole step instead of the
  // micro-batch; null if `value` depends on inputs other than through such sums.
  mlir::Value ofTotals(mlir::OpBuilder &b, mlir::Value value);

  mlir::func::FuncOp step_;
  int64_t microBatches_;
};

} // namespace cleave::train
