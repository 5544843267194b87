// Lowers ops that move elements: layout ops become views, parts of a concat are written where it
// lies.
#include "passes/bufferize/StepLowering.h"

using namespace mlir;

namespace cleave::bufferize {

void StepLowering::lowerLayout(Operation *op) {
  Value operand = op->getOperand(0), result = op->getResult(0);
  std::vector<int64_t> shape = graph::staticShapeOf(result);
  View from = viewOf(operand);
  std::optional<View> view;
  if (auto transpose = dyn_cast<graph::TransposeOp>(op)) {
    view = from.transposed(transpose.getPermutation());
  } else if (auto slice = dyn_cast<graph::SliceOp>(op)) {
    view = from.sliced(slice.getDim(), slice.getStart(), slice.getStride(), shape[slice.getDim()]);
  } else if (auto reverse = dyn_cast<graph::ReverseOp>(op)) {
    int64_t size = shape[reverse.getDim()];
    view = from.sliced(reverse.getDim(), size - 1, -1, size);
  } else {
    view = from.reshaped(shape);
    if (!view) {
      strided_[op].push_back(from.strided());
      view = copyToDense(from).reshaped(shape);
    }
  }
  auto destination = destinations_.find(result);
  if (destination == destinations_.end())
    return setView(result, *view);
  if (isa<graph::ReshapeOp>(op) && !view->isSamePlace(destination->second))
    strided_[op].push_back(destination->second.strided());
  program_.copy(*view, destination->second); // nothing where the operand was written there
  setView(result, destination->second);
}

void StepLowering::lowerConcat(graph::ConcatOp op) {
  View whole = resultView(op.getResult());
  int64_t start = 0;
  for (Value operand : op.getOperands()) {
    int64_t count = graph::staticShapeOf(operand)[op.getDim()];
    program_.copy(viewOf(operand), whole.sliced(op.getDim(), start, 1, count));
    start += count;
  }
  setView(op.getResult(), whole);
}

View StepLowering::insidePad(graph::PadOp op, const View &whole) {
  const int64_t count = graph::staticShapeOf(op.getOperand())[op.getDim()],
                step = static_cast<int64_t>(op.getInterior()) + 1;
  return whole.sliced(op.getDim(), op.getLow(), step, count);
}

void StepLowering::lowerPad(graph::PadOp op) {
  auto planned = destinations_.find(op.getResult());
  const View whole = planned == destinations_.end() ? newBuffer(op.getResult()) : planned->second;
  if (planned == destinations_.end())
    program_.fill(whole.buffer, op.getValue().convertToDouble());
  // Nothing where the operand was written there.
  program_.copy(viewOf(op.getOperand()), insidePad(op, whole));
  setView(op.getResult(), whole);
}

// Fills the padding of the buffer that the op writes first.
void StepLowering::fillPadding(Operation *op) {
  for (Value result : op->getResults())
    if (auto destination = destinations_.find(result); destination != destinations_.end())
      if (auto padding = padding_.find(destination->second.buffer); padding != padding_.end()) {
        program_.fill(padding->first, padding->second);
        padding_.erase(padding);
      }
}

void StepLowering::lowerConstant(graph::ConstantOp op) {
  std::vector<int64_t> shape = graph::staticShapeOf(op.getResult());
  Builder b(op.getContext());
  Attribute origin = b.getDictionaryAttr(b.getNamedAttr("data", op.getValue()));
  SmallVector<Attribute> dims(shape.size(), b.getArrayAttr({}));
  std::string name = "constant." + std::to_string(position_.lookup(op));
  int64_t tensor = program_.addTensor(name, program::Role::Constant, op.getType(),
                                      b.getArrayAttr(dims), StringAttr(), origin);
  Value buffer = program_.addBuffer(name, program::Role::Constant,
                                    graph::elementTypeOf(op.getResult()), shape, tensor);
  persistent_.insert(buffer);
  setView(op.getResult(), View::dense(buffer, shape));
}

} // namespace cleave::bufferize
