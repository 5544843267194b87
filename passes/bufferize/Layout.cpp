#include "passes/bufferize/Layout.h"

using namespace mlir;

namespace cleave::bufferize {

void LayoutLowering::lower(Operation *op) {
  Value operand = op->getOperand(0), result = op->getResult(0);
  std::vector<int64_t> shape = graph::staticShapeOf(result);
  View from = views_.of(operand);
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
      view = copyToDense(program_, from).reshaped(shape);
    }
  }
  const View *destination = destinations_.find(result);
  if (!destination)
    return views_.set(result, *view);
  if (isa<graph::ReshapeOp>(op) && !view->isSamePlace(*destination))
    strided_[op].push_back(destination->strided());
  program_.copy(*view, *destination); // nothing where the operand was written there
  views_.set(result, *destination);
}

ArrayRef<cost::Strided> LayoutLowering::stridedOf(Operation *op) const {
  auto it = strided_.find(op);
  return it == strided_.end() ? ArrayRef<cost::Strided>() : it->second;
}

void LayoutLowering::lower(graph::ConcatOp op) {
  View whole = views_.resultView(op.getResult());
  int64_t start = 0;
  for (Value operand : op.getOperands()) {
    int64_t count = graph::staticShapeOf(operand)[op.getDim()];
    program_.copy(views_.of(operand), whole.sliced(op.getDim(), start, 1, count));
    start += count;
  }
  views_.set(op.getResult(), whole);
}

View insidePad(graph::PadOp op, const View &whole) {
  const int64_t count = graph::staticShapeOf(op.getOperand())[op.getDim()],
                step = static_cast<int64_t>(op.getInterior()) + 1;
  return whole.sliced(op.getDim(), op.getLow(), step, count);
}

void LayoutLowering::lower(graph::PadOp op) {
  const View *planned = destinations_.find(op.getResult());
  const View whole = planned ? *planned : buffers_.add(op.getResult());
  if (!planned)
    program_.fill(whole.buffer, op.getValue().convertToDouble());
  // Nothing where the operand was written there.
  program_.copy(views_.of(op.getOperand()), insidePad(op, whole));
  views_.set(op.getResult(), whole);
}

void LayoutLowering::fillPadding(Operation *op) {
  for (Value result : op->getResults())
    if (const View *destination = destinations_.find(result))
      if (std::optional<double> padding = destinations_.takePadding(destination->buffer))
        program_.fill(destination->buffer, *padding);
}

} // namespace cleave::bufferize
