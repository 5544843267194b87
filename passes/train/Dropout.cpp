// Dropout in a training step: every dropout op gets a seed. The seeds follow from the number of the
// micro-batch since training began, which is a state of the step; dropped elements follow from the
// seed and from positions in whole tensors. So training drops the same elements after a resume and
// on any number of ranks.
#include "dialects/graph/Build.h"
#include "dialects/graph/MicroBatches.h"
#include "passes/train/Parts.h"

using namespace mlir;
using namespace cleave::graph;

namespace cleave::train {

static constexpr StringLiteral kCounterName = "dropout.micro_batch";

void buildDropout(func::FuncOp step) {
  SmallVector<DropoutInterface> dropouts;
  step.walk([&](DropoutInterface op) {
    if (op.getDropRate() > 0 && !op.getSeed())
      dropouts.push_back(op);
  });
  if (dropouts.empty())
    return;
  Type counterType = RankedTensorType::get({}, Float64Type::get(step.getContext()));
  TensorOrigin zero;
  BlockArgument before = addArgument(step, counterType, kCounterName, Role::State, &zero);
  OpBuilder b = OpBuilder::atBlockBegin(&step.getBody().front());
  Value counter =
      AddOp::create(b, step.getLoc(), before, buildSplat(b, step.getLoc(), counterType, 1));
  Value first = MulOp::create(b, step.getLoc(), counter,
                              buildSplatLike(b, counter, static_cast<double>(dropouts.size())));
  for (auto [i, op] : llvm::enumerate(dropouts)) {
    b.setInsertionPoint(op);
    Value number =
        AddOp::create(b, op.getLoc(), first, buildSplatLike(b, first, static_cast<double>(i)));
    op.setSeed(buildCast(b, number, b.getI64Type()));
  }
  step.setArgAttr(before.getArgNumber(), kPerMicroBatch, b.getUnitAttr());
  addResult(step, counter, kCounterName, Role::State, before.getArgNumber());
}

} // namespace cleave::train
