// The pass that makes a training step.
#include "passes/train/Train.h"

#include "dialects/graph/Step.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace cleave::train {

#define GEN_PASS_DECL_STEPPASS
#define GEN_PASS_DEF_STEPPASS
#include "passes/train/Passes.h.inc"

namespace {

struct StepPass : impl::StepPassBase<StepPass> {
  using StepPassBase::StepPassBase;

  void runOnOperation() override {
    Result<TrainOptions> options = read();
    func::FuncOp step = graph::stepOf(getOperation());
    if (!options || !step) {
      emitError(getOperation().getLoc())
          << (step ? options.status().message() : "the module has no function @step");
      return signalPassFailure();
    }
    if (failed(buildTrainingStep(step, *options)))
      signalPassFailure();
  }

private:
  // The parts between `+`; none of an empty text.
  static SmallVector<StringRef> parts(StringRef text) {
    SmallVector<StringRef> parts;
    if (!text.empty())
      text.split(parts, '+');
    return parts;
  }

  Result<TrainOptions> read() {
    TrainOptions options;
    for (StringRef text : parts(loss)) {
      CLEAVE_TRY_ASSIGN(LossOption one, parseLoss(text.str()));
      options.losses.push_back(one);
    }
    CLEAVE_TRY_ASSIGN(options.optimizer, parseOptimizer(optimizer));
    for (StringRef text : parts(groups)) {
      CLEAVE_TRY_ASSIGN(GroupOption group, parseGroup(text.str(), options.optimizer));
      options.groups.push_back(group);
    }
    if (ema >= 0)
      options.ema = ema;
    options.trainable.assign(trainable.begin(), trainable.end());
    options.freeze.assign(freeze.begin(), freeze.end());
    if (clipNorm > 0)
      options.clipNorm = clipNorm;
    options.accumulate = accumulate;
    CLEAVE_TRY_ASSIGN(options.precision, precision::parsePolicy(dtype));
    options.freezeBatchNorm = freezeNorms;
    return options;
  }
};

} // namespace

void registerTrainPasses() { PassRegistration<StepPass>(); }

} // namespace cleave::train
