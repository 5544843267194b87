// Batch norm in inference form.
#include "passes/train/Train.h"

#include "dialects/graph/Build.h"
#include "dialects/graph/SignatureEdit.h"
#include "dialects/graph/StopGradient.h"

using namespace mlir;
using namespace cleave::graph;

namespace cleave::train {

// (x - running mean) / sqrt(running variance + epsilon) * scale + bias, with one factor per
// channel.
static Value buildFrozen(OpBuilder &b, BatchNormOp op) {
  Location loc = op.getLoc();
  Value x = op.getOperand(), variance = op.getRunningVar();
  SmallVector<int64_t> dims; // all but the channel
  for (int64_t dim = 0; dim < rankOf(x); ++dim)
    if (dim != 1)
      dims.push_back(dim);
  Value shifted = AddOp::create(b, loc, variance,
                                buildSplatLike(b, variance, op.getEpsilon().convertToDouble()));
  Value factor = MulOp::create(b, loc, RsqrtOp::create(b, loc, shifted), op.getScale());
  Value centred = SubOp::create(b, loc, x, buildBroadcastOver(b, op.getRunningMean(), x, dims));
  Value scaled = MulOp::create(b, loc, centred, buildBroadcastOver(b, factor, x, dims));
  return AddOp::create(b, loc, scaled, buildBroadcastOver(b, op.getBias(), x, dims));
}

// Drops the results that return a state argument unchanged; the argument becomes a constant.
static void dropUnchangedStates(func::FuncOp step) {
  Operation *end = step.getBody().front().getTerminator();
  SignatureEdit edit(step);
  llvm::BitVector dropped(step.getNumResults());
  for (unsigned i = 0; i < step.getNumResults(); ++i) {
    std::optional<unsigned> alias = aliasOf(step, i);
    Value last = end->getOperand(i);
    while (auto stop = last.getDefiningOp<StopGradientOp>())
      last = stop.getOperand();
    if (!alias || last != step.getArgument(*alias))
      continue;
    edit.setRole(*alias, Role::Constant);
    dropped.set(i);
  }
  edit.commit();
  eraseResults(step, dropped);
}

void freezeBatchNorm(func::FuncOp step) {
  SmallVector<BatchNormOp> norms;
  step.walk([&](BatchNormOp op) { norms.push_back(op); });
  for (BatchNormOp op : norms) {
    OpBuilder b(op);
    op->replaceAllUsesWith(ValueRange{buildFrozen(b, op), op.getRunningMean(), op.getRunningVar()});
    op->erase();
  }
  dropUnchangedStates(step);
}

} // namespace cleave::train
