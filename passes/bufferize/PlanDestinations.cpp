// Passes destinations from results of the step and of layout ops on to the ops that compute them.
#include "passes/bufferize/PlanDestinations.h"

#include "passes/bufferize/InPlace.h"
#include "passes/bufferize/Layout.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace cleave::bufferize {
namespace {

class DestinationPlanner {
public:
  DestinationPlanner(const StepOrder &order, ValueBuffers &buffers, const ValueViews &views,
                     Destinations &destinations)
      : order_(order), buffers_(buffers), views_(views), destinations_(destinations) {}

  void run();

private:
  void planReplacement(unsigned result);
  void planOperands(Operation *op);
  void planGroup(graph::FusionOp fusion);
  void planTranspose(graph::TransposeOp transpose);
  void planPad(graph::PadOp pad);
  void planReshape(graph::ReshapeOp reshape);
  void planConcat(graph::ConcatOp concat);
  bool canWriteAnywhere(Value value) const;
  // The destination of a result, which gets a new buffer if it has none.
  View placeOf(Value result);

  const StepOrder &order_;
  ValueBuffers &buffers_;
  const ValueViews &views_;
  Destinations &destinations_;
};

// Whether the op that writes the value, through the layout ops between, can write it to this view.
bool reachesProducer(Value value, View view) {
  for (Operation *op = value.getDefiningOp(); op; op = op->getOperand(0).getDefiningOp())
    if (auto transpose = dyn_cast<graph::TransposeOp>(op)) {
      view = view.transposed(invertPermutationVector(transpose.getPermutation()));
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

void DestinationPlanner::run() {
  for (unsigned i = 0; i < order_.terminator()->getNumOperands(); ++i)
    planReplacement(i);
  for (Operation *op : llvm::reverse(order_.ops()))
    planOperands(op);
}

View DestinationPlanner::placeOf(Value result) {
  if (!destinations_.contains(result))
    destinations_.set(result, buffers_.add(result));
  return *destinations_.find(result);
}

// Whether the value's op can write its result with any strides, and the value has one reader.
bool DestinationPlanner::canWriteAnywhere(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!op || !value.hasOneUse() || destinations_.contains(value))
    return false;
  if (op->hasTrait<graph::DimRearrangement>())
    return canWriteAnywhere(op->getOperand(0));
  return op->hasTrait<graph::StridedResult>();
}

// A group that does not write its result in row-major order reads operands fastest in the same
// order.
void DestinationPlanner::planGroup(graph::FusionOp fusion) {
  for (OpResult result : fusion->getResults()) {
    const View *destination = destinations_.find(result);
    if (!destination)
      continue;
    const SmallVector<int64_t> strides = destination->strides;
    if (llvm::is_sorted(strides, std::greater<>()))
      continue;
    for (OpOperand &operand : fusion->getOpOperands())
      if (isa_and_nonnull<graph::DotGeneralOp>(operand.get().getDefiningOp()) &&
          canWriteAnywhere(operand.get()) &&
          readsElementwise(fusion, operand.getOperandNumber(), result.getResultNumber()))
        destinations_.set(operand.get(), buffers_.addLike(operand.get(), strides));
  }
}

// A transpose whose operand cannot be written in its order stays a view if only attention on GPUs
// reads it, which accepts any order.
void DestinationPlanner::planTranspose(graph::TransposeOp transpose) {
  Value result = transpose.getResult();
  if (!canWriteAnywhere(transpose.getOperand()))
    return;
  const SmallVector<int64_t> inverse = invertPermutationVector(transpose.getPermutation());
  const View dense = View::dense(Value(), graph::staticShapeOf(result));
  const bool isFree = program::isForGpus(transpose) && !destinations_.contains(result) &&
                      llvm::all_of(result.getUsers(), [](Operation *user) {
                        return isa<graph::AttentionOp, graph::AttentionGradOp>(user);
                      });
  if (isFree && !reachesProducer(transpose.getOperand(), dense.transposed(inverse)))
    return;
  destinations_.set(transpose.getOperand(), placeOf(result).transposed(inverse));
}

// On GPUs, the operand of a pad is written to the pad's result if its op can do that or is a pad
// with the same value: one fill and one kernel then write pads of several dims.
void DestinationPlanner::planPad(graph::PadOp pad) {
  if (!program::isForGpus(pad))
    return;
  Value result = pad.getResult(), operand = pad.getOperand();
  const bool isPlanned = destinations_.contains(result);
  const View whole = placeOf(result);
  if (!isPlanned)
    destinations_.setPadding(whole.buffer, pad.getValue().convertToDouble());
  auto inner = operand.getDefiningOp<graph::PadOp>();
  const bool isSamePadding =
      inner && operand.hasOneUse() && inner.getValue().bitwiseIsEqual(pad.getValue());
  if (isSamePadding || canWriteAnywhere(operand))
    destinations_.set(operand, insidePad(pad, whole));
}

void DestinationPlanner::planReshape(graph::ReshapeOp reshape) {
  Value result = reshape.getResult(), operand = reshape.getOperand();
  if (!canWriteAnywhere(operand) ||
      (!destinations_.contains(result) && !buffers_.isChannelsLast(result)))
    return;
  if (auto view = placeOf(result).reshaped(graph::staticShapeOf(operand)))
    destinations_.set(operand, *view);
}

void DestinationPlanner::planConcat(graph::ConcatOp concat) {
  const View whole = placeOf(concat.getResult());
  int64_t start = 0;
  for (Value operand : concat.getOperands()) {
    int64_t count = graph::staticShapeOf(operand)[concat.getDim()];
    if (canWriteAnywhere(operand))
      destinations_.set(operand, whole.sliced(concat.getDim(), start, 1, count));
    start += count;
  }
}

// Passes the destination of an op's result on to its operands.
void DestinationPlanner::planOperands(Operation *op) {
  if (auto fusion = dyn_cast<graph::FusionOp>(op))
    return planGroup(fusion);
  if (op->getNumResults() != 1 || op->use_empty())
    return;
  if (auto transpose = dyn_cast<graph::TransposeOp>(op))
    planTranspose(transpose);
  else if (auto pad = dyn_cast<graph::PadOp>(op))
    planPad(pad);
  else if (auto reshape = dyn_cast<graph::ReshapeOp>(op))
    planReshape(reshape);
  else if (auto concat = dyn_cast<graph::ConcatOp>(op))
    planConcat(concat);
}

// A result that replaces an argument is written into it, unless the old value is read later.
void DestinationPlanner::planReplacement(unsigned result) {
  std::optional<unsigned> alias = graph::aliasOf(order_.step(), result);
  Value value = order_.terminator()->getOperand(result);
  Operation *op = value.getDefiningOp();
  if (!alias || !op || destinations_.contains(value) || !op->hasTrait<graph::InPlaceResult>())
    return;
  // Later micro-batches replace the state again before the backward part reads this value.
  if (order_.isStage() && order_.isReadBehindForward(value))
    return;
  Value argument = order_.step().getArgument(*alias);
  int position = order_.positionOf(op);
  if (order_.lastUseOf(argument) > position)
    return;
  for (OpOperand &use : argument.getUses()) {
    if (order_.positionOf(use.getOwner()) != position)
      continue;
    auto fusion = dyn_cast<graph::FusionOp>(op);
    if (!fusion ||
        !readsElementwise(fusion, use.getOperandNumber(), cast<OpResult>(value).getResultNumber()))
      return;
  }
  // An op that reads another view of the argument would read elements that it has overwritten.
  for (Operation *user : argument.getUsers())
    if (user != op && order_.isAliasing(user) && order_.lastUseOf(user->getResult(0)) == position)
      return;
  destinations_.set(value, *views_.find(argument));
}

} // namespace

void planDestinations(const StepOrder &order, ValueBuffers &buffers, const ValueViews &views,
                      Destinations &destinations) {
  DestinationPlanner(order, buffers, views, destinations).run();
}

} // namespace cleave::bufferize
