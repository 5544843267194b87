// Dropout in a step that trains: products with random masks. The masks of a micro-batch follow from the number of the
// micro-batch since training began, which is a state of the step, and from positions in whole tensors: resumed, or on
// any number of ranks, training draws the same ones.
#include "dialects/graph/Build.h"
#include "dialects/graph/Draw.h"
#include "dialects/graph/Step.h"
#include "passes/train/Steps.h"

using namespace mlir;
using namespace cleave::graph;

namespace cleave::train {

static constexpr StringLiteral kCounterName = "dropout.micro_batch";

// 1 / (1 - rate), or 0 with probability `rate`.
static Value buildMask(OpBuilder &b, DropoutOp op, Value key) {
  Location loc = op.getLoc();
  Shape shape = shapeOf(op.getOperand());
  double rate = op.getRate().convertToDouble();
  Value random = buildDraw(b, loc, shape, key);
  Value kept = CompareOp::create(b, loc, Predicate::GE, random, buildSplatLike(b, random, rate));
  Value factor = buildSplatLike(b, op.getOperand(), rate < 1 ? 1 / (1 - rate) : 0);
  return SelectOp::create(b, loc, op.getType(), kept, factor,
                          buildSplatLike(b, op.getOperand(), 0));
}

void buildDropout(func::FuncOp step) {
  SmallVector<DropoutOp> dropouts;
  step.walk([&](DropoutOp op) { dropouts.push_back(op); });
  if (dropouts.empty())
    return;
  Type counterType = RankedTensorType::get({}, Float64Type::get(step.getContext()));
  TensorOrigin zero;
  BlockArgument before = addArgument(step, counterType, kCounterName, "state", &zero);
  OpBuilder b = OpBuilder::atBlockBegin(&step.getBody().front());
  Value counter =
      AddOp::create(b, step.getLoc(), before, buildSplat(b, step.getLoc(), counterType, 1));
  Value first = MulOp::create(b, step.getLoc(), counter,
                              buildSplatLike(b, counter, static_cast<double>(dropouts.size())));
  for (auto [i, op] : llvm::enumerate(dropouts)) {
    b.setInsertionPoint(op);
    Value number =
        AddOp::create(b, op.getLoc(), first, buildSplatLike(b, first, static_cast<double>(i)));
    Value key = buildCast(b, number, b.getI64Type());
    Value result = MulOp::create(b, op.getLoc(), op.getOperand(), buildMask(b, op, key));
    op->replaceAllUsesWith(ValueRange{result});
    op->erase();
  }
  addResult(step, counter, kCounterName, "state", before.getArgNumber());
}

} // namespace cleave::train
