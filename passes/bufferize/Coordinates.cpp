#include "passes/bufferize/Coordinates.h"

using namespace mlir;

namespace cleave::bufferize {

void CoordinateLowering::addIfSplit() {
  const bool isSplit = llvm::any_of(
      mesh_.axes, [](const MeshAxis &axis) { return axis.size > 1 && axis.name != mesh::kStages; });
  if (isSplit)
    buffer();
}

Value CoordinateLowering::buffer() {
  if (!buffer_)
    buffer_ = program_.findBuffer(program::Role::Coordinates, /*tensor=*/-1);
  if (!buffer_) {
    int64_t axes = mesh_.axes.size();
    buffer_ = program_.addBuffer("coordinates", program::Role::Coordinates,
                                 program_.builder().getI64Type(), axes);
  }
  views_.setNeverFree(buffer_);
  return buffer_;
}

// The coordinates are the kernel's last buffer.
void CoordinateLowering::lower(Operation *op) {
  SmallVector<View> operands;
  for (Value operand : op->getOperands())
    operands.push_back(views_.wholeOf(operand));
  View result = views_.wholeResult(op->getResult(0));
  program_.launch(op, operands, result, buffer());
  views_.finishWhole(op->getResult(0), result);
}

} // namespace cleave::bufferize
