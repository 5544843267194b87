// Reads the order of the ops, and derives the last uses of values from it.
#include "passes/bufferize/StepOrder.h"

#include "dialects/graph/Graph.h"
#include "dialects/graph/MicroBatches.h"

using namespace mlir;

namespace cleave::bufferize {

LogicalResult StepOrder::read() {
  microBatches_ = graph::microBatchesOf(step_);
  repeated_ = graph::perMicroBatch(step_);
  parts_ = graph::partsOf(step_);
  isStage_ = graph::isStage(step_);
  for (Operation &op : step_.getBody().front()) {
    const bool isLast = &op == step_.getBody().front().getTerminator();
    if (isLast)
      parts_[&op] = {graph::StagePart::Kind::Update, 0};
    if (!order_.empty() && parts_.lookup(order_.back()) > parts_.lookup(&op))
      return op.emitOpError("stands behind an op of a later part of the step, which may run less "
                            "often; order the step before (passes/schedule)");
    position_[&op] = static_cast<int>(order_.size());
    order_.push_back(&op);
  }
  findLastUses();
  return success();
}

bool StepOrder::isAliasing(Operation *op) const {
  return op->hasTrait<graph::LayoutOnly>() || isa<graph::ConcatOp>(op) ||
         (isa<graph::AccumulateOp>(op) && microBatches_ == 1);
}

// Parts of different chunks run in an order that differs from micro-batch to micro-batch. A value
// that several chunks read is thus never read for the last time.
void StepOrder::findLastUses() {
  const int never = position_.lookup(order_.back());
  llvm::DenseMap<Value, int64_t> chunkOf; // of the readers
  auto find = [&](Value value) {
    int last = -1;
    std::optional<int64_t> chunk;
    auto addReader = [&](int position, int64_t of) {
      last = std::max(last, chunk.value_or(of) == of ? position : never);
      chunk = of;
    };
    for (Operation *user : value.getUsers()) {
      if (const graph::StagePart part = parts_.lookup(user); part.isPerMicroBatch())
        addReader(position_.lookup(user), part.chunk);
      else
        last = std::max(last, position_.lookup(user));
      if (!isAliasing(user))
        continue;
      const Value view = user->getResult(0);
      if (auto reader = chunkOf.find(view); reader != chunkOf.end())
        addReader(lastUse_.lookup(view), reader->second);
      last = std::max(last, lastUse_.lookup(view));
    }
    lastUse_[value] = last;
    if (chunk)
      chunkOf[value] = *chunk;
  };
  for (Operation *op : llvm::reverse(order_))
    llvm::for_each(op->getResults(), find);
  llvm::for_each(step_.getArguments(), find);
}

bool StepOrder::isReadBehindForward(Value value) const {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    const graph::StagePart part = parts_.lookup(user);
    return (part.kind != graph::StagePart::Kind::Forward && part.isPerMicroBatch()) ||
           (isAliasing(user) && isReadBehindForward(user->getResult(0)));
  });
}

bool StepOrder::isReplacedPerMicroBatch(unsigned i) const {
  return graph::isReplacedPerMicroBatch(step_, i, repeated_);
}

} // namespace cleave::bufferize
