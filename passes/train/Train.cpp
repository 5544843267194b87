// Builds the training step, part by part.
#include "passes/train/Train.h"

#include "dialects/graph/Build.h"
#include "dialects/graph/Provenance.h"
#include "dialects/graph/SignatureEdit.h"
#include "dialects/graph/StopGradient.h"
#include "passes/autodiff/Autodiff.h"
#include "passes/train/Parts.h"

using namespace mlir;
using namespace cleave::graph;

namespace cleave::train {

// The mean over the micro-batches.
static Value accumulated(OpBuilder &b, Value value, const TrainOptions &options) {
  const int64_t count = options.accumulate;
  if (count == 1 && !options.cut)
    return value;
  Value sum = AccumulateOp::create(b, value.getLoc(), value, count);
  return MulOp::create(b, value.getLoc(), sum,
                       buildSplatLike(b, sum, 1.0 / static_cast<double>(count)));
}

// The reason why none of the chosen parameters is trained; there may be no chosen ones.
static StringRef whyNothing(func::FuncOp step, ArrayRef<unsigned> chosen) {
  size_t parameters = 0, frozen = 0;
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    parameters += argRole(step, i) == Role::Parameter;
    frozen += argRole(step, i) == Role::Parameter && isFrozen(step, i);
  }
  if (parameters == 0)
    return "the model has no parameters, only constants; export it with its weights as parameters";
  if (chosen.empty() && frozen == parameters)
    return "the model file freezes all parameters (requires_grad=False); --trainable '*' trains "
           "them all the same";
  return "the loss depends on no trainable parameter";
}

// The gradients of the chosen parameters that the loss depends on. Those that are sums of products
// of 16-bit floats are stored as f32.
static FailureOr<SmallVector<Trained>> differentiate(OpBuilder &b, func::FuncOp step, Value loss,
                                                     ArrayRef<unsigned> chosen) {
  SmallVector<Value> parameters, gradients;
  for (unsigned i : chosen)
    parameters.push_back(step.getArgument(i));
  if (failed(autodiff::buildGradients(b, loss, parameters, gradients)))
    return failure();
  SmallVector<Trained> trained;
  for (auto [argument, gradient] : llvm::zip_equal(chosen, gradients))
    if (gradient)
      trained.push_back({argument, precision::widenGradient(gradient)});
  if (!trained.empty())
    return trained;
  return emitError(step.getLoc()) << "there is nothing to train: " << whyNothing(step, chosen);
}

// Marks trained parameters; the others become constants.
static void markParameters(func::FuncOp step, ArrayRef<Trained> trained) {
  MLIRContext *context = step.getContext();
  llvm::DenseSet<unsigned> isTrained;
  for (const Trained &parameter : trained)
    isTrained.insert(parameter.argument);
  SignatureEdit edit(step);
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    if (argRole(step, i) != Role::Parameter)
      continue;
    if (isTrained.contains(i))
      edit.setArgAttr(i, "graph.trainable", UnitAttr::get(context));
    else
      edit.setRole(i, Role::Constant);
  }
  edit.commit();
}

static void dropOutputs(func::FuncOp step) {
  llvm::BitVector outputs(step.getNumResults());
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    outputs[i] = resultRole(step, i) == Role::Output;
  eraseResults(step, outputs);
}

LogicalResult buildTrainingStep(func::FuncOp step, const TrainOptions &options,
                                precision::Summary *precision) {
  if (options.freezeBatchNorm)
    freezeBatchNorm(step);
  setNoPadding(step->getParentOfType<ModuleOp>(), whyNotPadded(step, options.losses));
  buildDropout(step);
  auto chosen = chooseParameters(step, options);
  if (failed(chosen))
    return failure();
  OpBuilder b(step.getBody().front().getTerminator());
  Value loss = buildLoss(b, step, options.losses, options.accumulate);
  if (!loss)
    return failure();
  if (failed(precision::applyPolicy(step, options.precision, precision)))
    return failure();
  loss = widened(b, loss);
  if (options.cut && failed(options.cut(step)))
    return failure();
  std::optional<LossScale> scale;
  if (options.precision.usesF16())
    scale.emplace(step);
  auto trained = differentiate(b, step, scale ? scale->scaled(b, loss) : loss, *chosen);
  if (failed(trained))
    return failure();
  dropGradientStops(step);
  markParameters(step, *trained);
  dropOutputs(step);
  for (Trained &parameter : *trained)
    parameter.gradient = accumulated(b, parameter.gradient, options);
  addResult(step, accumulated(b, loss, options), "loss", Role::Loss);
  if (scale)
    scale->unscale(b, *trained);
  Value norm = buildNorm(b, *trained);
  if (scale)
    scale->check(b, norm);
  addResult(step, norm, "grad_norm", Role::Metric);
  if (options.clipNorm)
    clip(b, norm, *options.clipNorm, *trained);
  buildUpdates(b, step, options, *trained, scale ? &*scale : nullptr);
  if (scale)
    scale->update(b);
  return success();
}

} // namespace cleave::train
