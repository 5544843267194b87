// The training step, part by part, and its pass.
#include "passes/train/Train.h"

#include "dialects/graph/Build.h"
#include "dialects/graph/SignatureEdit.h"
#include "dialects/graph/StopGradient.h"
#include "passes/autodiff/Autodiff.h"
#include "passes/train/Steps.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace cleave::graph;

namespace cleave {

// The mean over the micro-batches.
static Value accumulated(OpBuilder &b, Value value, int64_t count) {
  if (count == 1)
    return value;
  Value sum = AccumulateOp::create(b, value.getLoc(), value, count);
  return MulOp::create(b, value.getLoc(), sum,
                       buildSplatLike(b, sum, 1.0 / static_cast<double>(count)));
}

// Why none of the chosen parameters, of which there may be none, is trained.
static StringRef whyNothing(func::FuncOp step, ArrayRef<unsigned> chosen) {
  size_t parameters = 0, frozen = 0;
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    parameters += argRole(step, i) == "parameter";
    frozen += argRole(step, i) == "parameter" && isFrozen(step, i);
  }
  if (parameters == 0)
    return "the model has no parameters, only constants; export it with its weights as parameters";
  if (chosen.empty() && frozen == parameters)
    return "the model file freezes all parameters (requires_grad=False); --trainable '*' trains "
           "them all the same";
  return "the loss depends on no trainable parameter";
}

// The gradients of those of the chosen parameters that the loss depends on.
static FailureOr<SmallVector<train::Trained>> differentiate(OpBuilder &b, func::FuncOp step,
                                                            Value loss, ArrayRef<unsigned> chosen) {
  SmallVector<Value> parameters, gradients;
  for (unsigned i : chosen)
    parameters.push_back(step.getArgument(i));
  if (failed(buildGradients(b, loss, parameters, gradients)))
    return failure();
  SmallVector<train::Trained> trained;
  for (auto [argument, gradient] : llvm::zip_equal(chosen, gradients))
    if (gradient)
      trained.push_back({argument, gradient});
  if (!trained.empty())
    return trained;
  return emitError(step.getLoc()) << "there is nothing to train: " << whyNothing(step, chosen);
}

// Marks what is trained; other parameters are constants of this step.
static void markParameters(func::FuncOp step, ArrayRef<train::Trained> trained) {
  MLIRContext *context = step.getContext();
  llvm::DenseSet<unsigned> isTrained;
  for (const train::Trained &parameter : trained)
    isTrained.insert(parameter.argument);
  SignatureEdit edit(step);
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    if (argRole(step, i) != "parameter")
      continue;
    if (isTrained.contains(i))
      edit.setArgAttr(i, "graph.trainable", UnitAttr::get(context));
    else
      edit.setArgAttr(i, "graph.role", StringAttr::get(context, "constant"));
  }
  edit.commit();
}

static void dropOutputs(func::FuncOp step) {
  llvm::BitVector outputs(step.getNumResults());
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    outputs[i] = resultRole(step, i) == "output";
  eraseResults(step, outputs);
}

LogicalResult buildTrainingStep(func::FuncOp step, const TrainOptions &options) {
  if (options.freezeBatchNorm)
    freezeBatchNorm(step);
  train::buildDropout(step);
  auto chosen = train::chooseParameters(step, options);
  if (failed(chosen))
    return failure();
  OpBuilder b(step.getBody().front().getTerminator());
  Value loss = train::buildLoss(b, step, options.losses);
  if (!loss)
    return failure();
  auto trained = differentiate(b, step, loss, *chosen);
  if (failed(trained))
    return failure();
  dropGradientStops(step);
  markParameters(step, *trained);
  dropOutputs(step);
  for (train::Trained &parameter : *trained)
    parameter.gradient = accumulated(b, parameter.gradient, options.accumulate);
  addResult(step, accumulated(b, loss, options.accumulate), "loss", "loss");
  Value norm = train::buildNorm(b, *trained);
  addResult(step, norm, "grad_norm", "metric");
  if (options.clipNorm)
    train::clip(b, norm, *options.clipNorm, *trained);
  train::buildUpdates(b, step, options.optimizer, *trained);
  return success();
}

namespace {

struct TrainStepPass : PassWrapper<TrainStepPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TrainStepPass)
  TrainStepPass() = default;
  TrainStepPass(const TrainStepPass &other) : PassWrapper(other) {}
  StringRef getArgument() const final { return "cleave-train-step"; }
  StringRef getDescription() const final {
    return "Makes a training step of a forward step: loss, gradients, clipping, optimizer";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<GraphDialect>();
  }

  void runOnOperation() override {
    Result<TrainOptions> options = read();
    func::FuncOp step = stepOf(getOperation());
    if (!options || !step) {
      emitError(getOperation().getLoc())
          << (step ? options.status().message() : "the module has no function @step");
      return signalPassFailure();
    }
    if (failed(buildTrainingStep(step, *options)))
      signalPassFailure();
  }

private:
  Result<TrainOptions> read() {
    TrainOptions options;
    SmallVector<StringRef> losses;
    StringRef(loss).split(losses, '+');
    for (StringRef text : losses) {
      Result<LossOption> one = parseLoss(text.str());
      CLEAVE_TRY(one.status());
      options.losses.push_back(*one);
    }
    Result<OptimizerOption> parsed = parseOptimizer(optimizer);
    CLEAVE_TRY(parsed.status());
    options.optimizer = *parsed;
    options.trainable.assign(trainable.begin(), trainable.end());
    options.freeze.assign(freeze.begin(), freeze.end());
    if (clipNorm > 0)
      options.clipNorm = clipNorm;
    options.accumulate = accumulate;
    options.freezeBatchNorm = freezeNorms;
    return options;
  }

  Option<std::string> loss{*this, "loss",
                           llvm::cl::desc("KIND:OUTPUT[,LABEL], several joined by +")};
  Option<std::string> optimizer{*this, "optimizer", llvm::cl::desc("NAME[:KEY=VALUE,…]"),
                                llvm::cl::init("adamw")};
  ListOption<std::string> trainable{*this, "trainable",
                                    llvm::cl::desc("patterns of parameters to train")};
  ListOption<std::string> freeze{*this, "freeze",
                                 llvm::cl::desc("patterns of parameters not to train")};
  Option<double> clipNorm{*this, "clip-norm", llvm::cl::desc("largest norm of the gradients"),
                          llvm::cl::init(0)};
  Option<int64_t> accumulate{*this, "accumulate", llvm::cl::desc("micro-batches per step"),
                             llvm::cl::init(1)};
  Option<bool> freezeNorms{*this, "freeze-batch-norm",
                           llvm::cl::desc("normalise by running statistics"),
                           llvm::cl::init(false)};
};

} // namespace

void registerTrainPasses() { PassRegistration<TrainStepPass>(); }

} // namespace cleave
