// Decisions before instructions are built: the order of ops, last uses and destinations.
#include "passes/bufferize/StepLowering.h"

#include "dialects/graph/Step.h"
#include "passes/bufferize/InPlace.h"

using namespace mlir;

namespace cleave::bufferize {

LogicalResult StepLowering::readOrder() {
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
  return isStage_ ? checkStage() : success();
}

// Ops whose result is a view of their operand, or whose operand may be written to the memory of
// their result.
bool StepLowering::isAliasing(Operation *op) const {
  return op->hasTrait<graph::LayoutOnly>() || isa<graph::ConcatOp>(op) ||
         (isa<graph::AccumulateOp>(op) && microBatches_ == 1);
}

// Parts of different chunks run in an order that differs from micro-batch to micro-batch. A value
// that several chunks read is thus never read for the last time.
void StepLowering::planUses() {
  const int never = position_.lookup(order_.back());
  llvm::DenseMap<Value, int64_t> chunkOf; // of the readers
  auto plan = [&](Value value) {
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
    llvm::for_each(op->getResults(), plan);
  llvm::for_each(step_.getArguments(), plan);
}

// Whether the value's op can write its result with any strides, and the value has one reader.
bool StepLowering::canWriteAnywhere(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!op || !value.hasOneUse() || destinations_.contains(value))
    return false;
  if (op->hasTrait<graph::DimRearrangement>())
    return canWriteAnywhere(op->getOperand(0));
  return op->hasTrait<graph::StridedResult>();
}

// A group that does not write its result in row-major order reads operands fastest in the same
// order.
void StepLowering::planGroupOperands(graph::FusionOp fusion) {
  for (OpResult result : fusion->getResults()) {
    auto destination = destinations_.find(result);
    if (destination == destinations_.end())
      continue;
    SmallVector<int64_t> strides = destination->second.strides;
    if (llvm::is_sorted(strides, std::greater<>()))
      continue;
    for (OpOperand &operand : fusion->getOpOperands())
      if (isa_and_nonnull<graph::DotGeneralOp>(operand.get().getDefiningOp()) &&
          canWriteAnywhere(operand.get()) &&
          readsElementwise(fusion, operand.getOperandNumber(), result.getResultNumber()))
        destinations_[operand.get()] = newBufferLike(operand.get(), strides);
  }
}

static SmallVector<int64_t> inverseOf(graph::TransposeOp transpose) {
  SmallVector<int64_t> inverse(transpose.getPermutation().size());
  for (auto [i, dim] : llvm::enumerate(transpose.getPermutation()))
    inverse[dim] = i;
  return inverse;
}

// Whether the op that writes the value, through the layout ops between, can write it to this view.
static bool reachesProducer(Value value, View view) {
  for (Operation *op = value.getDefiningOp(); op; op = op->getOperand(0).getDefiningOp())
    if (auto transpose = dyn_cast<graph::TransposeOp>(op)) {
      view = view.transposed(inverseOf(transpose));
    } else if (isa<graph::ReshapeOp>(op)) {
      std::optional<View> whole = view.reshaped(graph::staticShapeOf(op->getOperand(0)));
      if (!whole)
        return false;
      view = *whole;
    } else {
      return true;
    }
  return true;
}

// On GPUs, the operand of a pad is written to the pad's result if its op can do that or is a pad
// with the same value: one fill and one kernel then write pads of several dims.
void StepLowering::planPad(graph::PadOp pad) {
  if (!isForGpus_)
    return;
  Value result = pad.getResult(), operand = pad.getOperand();
  if (!destinations_.contains(result)) {
    View whole = newBuffer(result);
    padding_[whole.buffer] = pad.getValue().convertToDouble();
    destinations_[result] = std::move(whole);
  }
  auto inner = operand.getDefiningOp<graph::PadOp>();
  const bool isSamePadding =
      inner && operand.hasOneUse() && inner.getValue().bitwiseIsEqual(pad.getValue());
  if (isSamePadding || canWriteAnywhere(operand))
    destinations_[operand] = insidePad(pad, destinations_[result]);
}

// Passes the destination of a layout op's result on to its operand. A transpose whose operand
// cannot be written in its order stays a view if only attention on GPUs reads it, which accepts any
// order.
void StepLowering::planDestination(Operation *op) {
  if (auto fusion = dyn_cast<graph::FusionOp>(op))
    return planGroupOperands(fusion);
  if (op->getNumResults() != 1 || op->use_empty())
    return;
  Value result = op->getResult(0);
  if (auto transpose = dyn_cast<graph::TransposeOp>(op)) {
    if (!canWriteAnywhere(transpose.getOperand()))
      return;
    const SmallVector<int64_t> inverse = inverseOf(transpose);
    const View dense = View::dense(Value(), graph::staticShapeOf(result));
    const bool isFree = isForGpus_ && !destinations_.contains(result) &&
                        llvm::all_of(result.getUsers(), [](Operation *user) {
                          return isa<graph::AttentionOp, graph::AttentionGradOp>(user);
                        });
    if (isFree && !reachesProducer(transpose.getOperand(), dense.transposed(inverse)))
      return;
    if (!destinations_.contains(result))
      destinations_[result] = newBuffer(result);
    destinations_[transpose.getOperand()] = View(destinations_[result]).transposed(inverse);
  } else if (auto pad = dyn_cast<graph::PadOp>(op)) {
    planPad(pad);
  } else if (auto reshape = dyn_cast<graph::ReshapeOp>(op)) {
    if (!canWriteAnywhere(reshape.getOperand()))
      return;
    if (!destinations_.contains(result) && channelsLast_.contains(result))
      destinations_[result] = newBuffer(result);
    if (!destinations_.contains(result))
      return;
    if (auto view = destinations_[result].reshaped(graph::staticShapeOf(reshape.getOperand())))
      destinations_[reshape.getOperand()] = *view;
  } else if (auto concat = dyn_cast<graph::ConcatOp>(op)) {
    if (!destinations_.contains(result))
      destinations_[result] = newBuffer(result);
    View whole = destinations_[result];
    int64_t start = 0;
    for (Value operand : concat.getOperands()) {
      int64_t count = graph::staticShapeOf(operand)[concat.getDim()];
      if (canWriteAnywhere(operand))
        destinations_[operand] = whole.sliced(concat.getDim(), start, 1, count);
      start += count;
    }
  }
}

// A result that replaces an argument is written into it, unless the old value is read later.
void StepLowering::planReplacement(unsigned result) {
  std::optional<unsigned> alias = graph::aliasOf(step_, result);
  Value value = step_.getBody().front().getTerminator()->getOperand(result);
  Operation *op = value.getDefiningOp();
  if (!alias || !op || destinations_.contains(value) || !op->hasTrait<graph::InPlaceResult>())
    return;
  // Later micro-batches replace the state again before the backward part reads this value.
  if (isStage_ && isReadBehindForward(value))
    return;
  Value argument = step_.getArgument(*alias);
  int position = position_.lookup(op);
  if (lastUse_.lookup(argument) > position)
    return;
  for (OpOperand &use : argument.getUses()) {
    if (position_.lookup(use.getOwner()) != position)
      continue;
    auto fusion = dyn_cast<graph::FusionOp>(op);
    if (!fusion ||
        !readsElementwise(fusion, use.getOperandNumber(), cast<OpResult>(value).getResultNumber()))
      return;
  }
  // An op that reads another view of the argument would read elements that it has overwritten.
  for (Operation *user : argument.getUsers())
    if (user != op && isAliasing(user) && lastUse_.lookup(user->getResult(0)) == position)
      return;
  destinations_[value] = views_.lookup(argument);
}

void StepLowering::planDestinations() {
  unsigned results = step_.getBody().front().getTerminator()->getNumOperands();
  for (unsigned i = 0; i < results; ++i)
    planReplacement(i);
  for (Operation *op : llvm::reverse(order_))
    planDestination(op);
}

} // namespace cleave::bufferize
