// Copies matrices that the instruction of CPUs does not accept.
#include "passes/bufferize/GroupedMatmul.h"

#include "passes/bufferize/Kernels.h"

using namespace mlir;

namespace cleave::bufferize {
namespace {

// Whether the rows or the columns of the matrices are contiguous.
bool isRegular(const View &view) {
  const size_t rank = view.shape.size();
  const int64_t rows = view.shape[rank - 2], columns = view.shape[rank - 1],
                row = view.strides[rank - 2], column = view.strides[rank - 1];
  return ((column == 1 || columns == 1) && (row >= columns || rows == 1)) ||
         ((row == 1 || rows == 1) && (column >= rows || columns == 1));
}

// Adds the instruction that implements `op`.
template <typename Op>
void addGrouped(ProgramBuilder &program, Op op, const View &input, const View &weight,
                const View &output, Value ends, Value firstRow, Value firstGroup) {
  OpBuilder &b = program.builder();
  auto number = [&](int64_t size) { return b.getI64IntegerAttr(size); };
  const bool isGradient = isa<graph::GroupedWeightGradOp>(op);
  program.add<program::GroupedMatmulOp>(
      input.buffer, weight.buffer, output.buffer, ends, firstRow, firstGroup, input.attribute(0),
      weight.attribute(1), output.attribute(2), number(input.shape[0]), number(weight.shape[0]),
      number(weight.shape[1]), number(weight.shape[2]),
      number(op.getWholeRows().value_or(input.shape[0])),
      number(graph::staticShapeOf(op.getEnds())[0]), isGradient ? b.getUnitAttr() : UnitAttr());
}

// The view of matrices whose rows or columns are contiguous, copied if they are not.
View groupedMatrix(Value value, ProgramBuilder &program, ValueViews &views) {
  View view = views.forwardOf(value);
  return isRegular(view) ? view : copyToDense(program, view);
}

// The buffer of a scalar; null for null.
Value scalarOf(Value scalar, ValueViews &views) {
  return scalar ? views.wholeOf(scalar).buffer : scalar;
}

// Lowers a product of x and a second operand. Of the matrices of weights, the gradient is the
// result and the product's own are the operand.
template <typename Op>
void lower(Op op, Value second, ProgramBuilder &program, ValueBuffers &buffers, ValueViews &views) {
  if (program::isForGpus(op))
    return launchOnViews(op, views.resultView(op.getResult()), program, views);
  const View x = groupedMatrix(op.getX(), program, views),
             other = groupedMatrix(second, program, views),
             place = views.resultView(op.getResult());
  const View made = isRegular(place) ? place : buffers.add(op.getResult(), ".dense");
  const bool isGradient = isa<graph::GroupedWeightGradOp>(op);
  addGrouped(program, op, x, isGradient ? made : other, isGradient ? other : made,
             views.wholeOf(op.getEnds()).buffer, scalarOf(op.getFirstRow(), views),
             scalarOf(op.getFirstGroup(), views));
  if (!(made == place))
    program.copy(made, place);
  views.set(op.getResult(), place);
}

} // namespace

void lowerGroupedMatmul(graph::GroupedMatmulOp op, ProgramBuilder &program, ValueBuffers &buffers,
                        ValueViews &views) {
  lower(op, op.getWeights(), program, buffers, views);
}

void lowerGroupedWeightGrad(graph::GroupedWeightGradOp op, ProgramBuilder &program,
                            ValueBuffers &buffers, ValueViews &views) {
  lower(op, op.getGrad(), program, buffers, views);
}

} // namespace cleave::bufferize
