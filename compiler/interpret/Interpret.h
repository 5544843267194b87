// The interpreter: runs a function of graph ops in one process, by the reference semantics of each
// op. Slow and simple: it is what kernels, partitioned programs and gradients are compared with.
#pragma once

#include "dialects/interfaces/Tensor.h"
#include "runtime/base/Status.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <vector>

namespace cleave {

// The function's results on these arguments; graph.accumulate is the identity. Fails where an
// argument does not have the type that the function states, where symbols are left in a type, and
// at ops without reference semantics.
Result<std::vector<Tensor>> interpret(mlir::func::FuncOp function, llvm::ArrayRef<Tensor> args);

// Sees the operands of every op before it is evaluated and its results after that, and may change both.
class StepObserver {
public:
  virtual ~StepObserver() = default;
  virtual void beforeOp(mlir::Operation *op, llvm::MutableArrayRef<Tensor> operands) {}
  virtual void afterOp(mlir::Operation *op, llvm::ArrayRef<Tensor> operands,
                       llvm::MutableArrayRef<Tensor> results) {}
};

// A step of `microBatches.size()` micro-batches. `persistent` are the arguments but for inputs and
// labels, `microBatches[m]` the inputs and labels of micro-batch m, each in the order of the
// function's arguments. Ops run once per micro-batch or once a step as perMicroBatch() of
// dialects/graph/Step.h says. A result that replaces an argument and is computed per micro-batch
// (running statistics) is that argument in the next one; other such results are those of the last
// micro-batch. `observer` sees every op but graph.accumulate; may be null.
Result<std::vector<Tensor>> interpretStep(mlir::func::FuncOp step,
                                          llvm::ArrayRef<Tensor> persistent,
                                          llvm::ArrayRef<std::vector<Tensor>> microBatches,
                                          StepObserver *observer = nullptr);

// Whether a tensor has the element type and shape of `type`; if not, says what differs, beginning
// with `what`.
Status checkTensor(const Tensor &tensor, mlir::Type type, const std::string &what);

} // namespace cleave
