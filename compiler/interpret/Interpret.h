// The interpreter: runs a function of graph ops in one process, by the reference semantics of each
// op (graph::ReferenceInterface). Slow and simple: the oracle for kernels, partitioned programs and
// gradients.
#pragma once

#include "dialects/interfaces/Tensor.h"
#include "runtime/base/Status.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <vector>

namespace cleave::interpret {

// The function's results on these arguments; graph.accumulate is the identity. A user error if the
// number or the type of the arguments differs from the function's signature or a type has symbolic
// dims; a defect if an op has no reference semantics.
Result<std::vector<Tensor>> run(mlir::func::FuncOp function, llvm::ArrayRef<Tensor> args);

// Observes the ops of a step as they are evaluated, and may change their operands and results.
class StepObserver {
public:
  virtual ~StepObserver() = default;
  // Called before `op` is evaluated on `operands`, then after it with its results.
  virtual void beforeOp(mlir::Operation *op, llvm::MutableArrayRef<Tensor> operands) {}
  virtual void afterOp(mlir::Operation *op, llvm::ArrayRef<Tensor> operands,
                       llvm::MutableArrayRef<Tensor> results) {}
};

// The results of a step of `microBatches.size()` micro-batches. `persistent` holds the arguments
// other than inputs and labels, `microBatches[m]` the inputs and labels of micro-batch m, each in
// the order of the function's arguments; arguments with graph.all_of follow from them.
// perMicroBatch() of dialects/graph/Step.h decides which ops run once per micro-batch; the others
// run once per step. A result that is computed per micro-batch and replaces an argument (running
// statistics) is the value of that argument in the next micro-batch; other results computed per
// micro-batch are those of the last one. `observer` is called for every op except graph.accumulate;
// may be null. Errors as of run().
Result<std::vector<Tensor>> runStep(mlir::func::FuncOp step, llvm::ArrayRef<Tensor> persistent,
                                    llvm::ArrayRef<std::vector<Tensor>> microBatches,
                                    StepObserver *observer = nullptr);

// Ok if the tensor has the element type and shape of `type`. Otherwise a user error that names both
// types; the message begins with `what`.
Status checkTensor(const Tensor &tensor, mlir::Type type, const std::string &what);

} // namespace cleave::interpret
