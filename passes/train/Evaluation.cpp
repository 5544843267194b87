// Builds the evaluation of a step.
#include "dialects/graph/SignatureEdit.h"
#include "dialects/graph/StopGradient.h"
#include "passes/precision/Precision.h"
#include "passes/train/Parts.h"
#include "passes/train/Train.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace cleave::graph;

namespace cleave::train {

// Removes the results of the model: outputs, and new states, which an evaluation does not keep.
static void dropModelResults(func::FuncOp step) {
  llvm::BitVector others(step.getNumResults());
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    others[i] = resultRole(step, i) != "loss";
  eraseResults(step, others);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(step.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

static void dropUnusedArguments(func::FuncOp step) {
  llvm::BitVector unused(step.getNumArguments());
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    unused[i] = step.getArgument(i).use_empty();
  eraseArguments(step, unused);
}

// What an evaluation reads, it does not change.
static void makeStatesConstant(func::FuncOp step) {
  SignatureEdit edit(step);
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (argRole(step, i) == "state")
      edit.setArgAttr(i, "graph.role", StringAttr::get(step.getContext(), "constant"));
  edit.commit();
}

LogicalResult buildEvaluation(func::FuncOp step, const TrainOptions &options) {
  freezeBatchNorm(step);
  OpBuilder b(step.getBody().front().getTerminator());
  if (failed(buildMetrics(b, step, options.losses)) ||
      failed(precision::applyPolicy(step, options.precision)))
    return failure();
  dropGradientStops(step);
  dropModelResults(step);
  dropUnusedArguments(step);
  makeStatesConstant(step);
  return success();
}

} // namespace cleave::train
