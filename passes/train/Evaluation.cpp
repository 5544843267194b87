// Builds the evaluation of a step.
#include "dialects/graph/Build.h"
#include "dialects/graph/Formula.h"
#include "dialects/graph/Provenance.h"
#include "dialects/graph/SignatureEdit.h"
#include "dialects/graph/StopGradient.h"
#include "passes/precision/Precision.h"
#include "passes/train/Parts.h"
#include "passes/train/Train.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace cleave::graph;

namespace cleave::train {

// Removes the results of the model: outputs, and new states, which an evaluation does not keep.
static void dropModelResults(func::FuncOp step) {
  llvm::BitVector others(step.getNumResults());
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    others[i] = resultRole(step, i) != Role::Loss;
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
    if (argRole(step, i) == Role::State)
      edit.setRole(i, Role::Constant);
  edit.commit();
}

LogicalResult buildEvaluation(func::FuncOp step, const TrainOptions &options) {
  freezeBatchNorm(step);
  setNoPadding(step->getParentOfType<ModuleOp>(),
               whyNotPadded(step, options.losses, /*isEvaluation=*/true));
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

// Adds an argument of the training step to those of the evaluation, which only reads it.
static Value addArgumentOf(SignatureEdit &edit, func::FuncOp trained, unsigned argument) {
  return edit.addArgument(trained.getArgument(argument).getType(), argName(trained, argument),
                          Role::Constant, trained.getArgAttr(argument, "graph.source"));
}

void evaluateAverages(func::FuncOp evaluation, func::FuncOp trained) {
  ImplicitLocOpBuilder b(evaluation.getLoc(), evaluation.getBody().front().getTerminator());
  const SmallVector<Operation *> ops = opsOf(evaluation);
  const unsigned arguments = evaluation.getNumArguments(), results = evaluation.getNumResults();
  SignatureEdit edit(evaluation);
  IRMapping averaged;
  Term counter{&b, addArgumentOf(edit, trained, *argNamed(trained, kStepCounter))};
  for (unsigned i = 0; i < arguments; ++i) {
    const std::string name = (argName(evaluation, i) + "/" + kAverage).str();
    std::optional<unsigned> state = argNamed(trained, name);
    if (!state || argRole(evaluation, i) != Role::Parameter)
      continue;
    Term parameter{&b, evaluation.getArgument(i)};
    Term average{&b, addArgumentOf(edit, trained, *state)};
    b.setLoc(parameter.value.getLoc());
    Term isNone = everywhere(cast(counter, elementTypeOf(parameter)) <= 0, parameter);
    averaged.map(parameter.value, select(isNone, parameter, average).value);
  }
  for (Operation *op : ops)
    b.clone(*op, averaged);
  for (unsigned i = 0; i < results; ++i)
    edit.addResult(averaged.lookupOrDefault(b.getInsertionPoint()->getOperand(i)),
                   (kAverage + "_" + resultName(evaluation, i)).str(), *resultRole(evaluation, i));
  edit.commit();
}

} // namespace cleave::train
