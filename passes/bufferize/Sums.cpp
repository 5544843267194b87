// Sums over micro-batches.
#include "passes/bufferize/StepLowering.h"

using namespace mlir;

namespace cleave::bufferize {

// Both run in one part of the step, and nothing else reads the product.
graph::AccumulateOp StepLowering::sumOf(graph::DotGeneralOp op) const {
  if (microBatches_ == 1 || !op->hasOneUse())
    return {};
  auto sum = dyn_cast<graph::AccumulateOp>(*op->user_begin());
  return sum && !sum->use_empty() && parts_.lookup(sum) == parts_.lookup(op)
             ? sum
             : graph::AccumulateOp();
}

View StepLowering::newSum(graph::AccumulateOp op) {
  std::vector<int64_t> shape = graph::staticShapeOf(op.getResult());
  View sum = View::dense(program_.addBuffer("sum", program::Role::Gradient,
                                            graph::elementTypeOf(op.getResult()), shape),
                         shape);
  program_.setSegment(begin_);
  program_.fill(sum.buffer, 0);
  program_.setSegment(segmentOf(op));
  return sum;
}

// sum += operand in every micro-batch, unless the product that makes the operand has added it.
void StepLowering::lowerAccumulate(graph::AccumulateOp op) {
  if (auto sum = sums_.find(op); sum != sums_.end())
    return setView(op.getResult(), sum->second);
  View from = viewOf(op.getOperand());
  if (microBatches_ == 1)
    return setView(op.getResult(), from);
  const View sum = newSum(op);
  OpBuilder b(op);
  Value operand = op.getOperand();
  auto fusion =
      graph::FusionOp::create(b, op.getLoc(), operand.getType(), ValueRange{operand, operand});
  Block &body = fusion.getBody().emplaceBlock();
  Value x = body.addArgument(operand.getType(), op.getLoc()),
        y = body.addArgument(operand.getType(), op.getLoc());
  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  Value total = graph::AddOp::create(inside, op.getLoc(), operand.getType(), x, y);
  graph::YieldOp::create(inside, op.getLoc(), total);
  program_.launch(fusion, {sum, from}, sum);
  fusion.erase();
  setView(op.getResult(), sum);
}

} // namespace cleave::bufferize
