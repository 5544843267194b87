#include "passes/bufferize/Sums.h"

using namespace mlir;

namespace cleave::bufferize {

// Both run in one part of the step, and nothing else reads the product.
graph::AccumulateOp MicroBatchSums::sumOf(graph::DotGeneralOp op) const {
  if (order_.microBatches() == 1 || !op->hasOneUse())
    return {};
  auto sum = dyn_cast<graph::AccumulateOp>(*op->user_begin());
  return sum && !sum->use_empty() && order_.partOf(sum) == order_.partOf(op)
             ? sum
             : graph::AccumulateOp();
}

View MicroBatchSums::newSum(graph::AccumulateOp op) {
  std::vector<int64_t> shape = graph::staticShapeOf(op.getResult());
  View sum = View::dense(program_.addBuffer("sum", program::Role::Gradient,
                                            graph::elementTypeOf(op.getResult()), shape),
                         shape);
  program_.setSegment(segments_.begin());
  program_.fill(sum.buffer, 0);
  program_.setSegment(segments_.of(op));
  return sum;
}

View MicroBatchSums::addForProduct(graph::AccumulateOp op) { return ofProducts_[op] = newSum(op); }

void MicroBatchSums::lower(graph::AccumulateOp op) {
  if (auto sum = ofProducts_.find(op); sum != ofProducts_.end())
    return views_.set(op.getResult(), sum->second);
  View from = views_.of(op.getOperand());
  if (order_.microBatches() == 1)
    return views_.set(op.getResult(), from);
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
  views_.set(op.getResult(), sum);
}

} // namespace cleave::bufferize
