// Products of groups of rows on strided views: one instruction of CPUs, one kernel of GPUs.
#include "passes/bufferize/StepLowering.h"

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

} // namespace

View StepLowering::groupedMatrix(Value value) {
  View view = forwardView(value);
  return isRegular(view) ? view : copyToDense(view);
}

void StepLowering::lowerGroupedMatmul(graph::GroupedMatmulOp op) {
  if (isForGpus_)
    return launchOnViews(op, resultView(op.getResult()));
  const View x = groupedMatrix(op.getX()), weights = groupedMatrix(op.getWeights()),
             place = resultView(op.getResult());
  const View made = isRegular(place) ? place : newBuffer(op.getResult(), ".dense");
  addGrouped(program_, op, x, weights, made, wholeViewOf(op.getEnds()).buffer,
             scalarOf(op.getFirstRow()), scalarOf(op.getFirstGroup()));
  if (!(made == place))
    program_.copy(made, place);
  setView(op.getResult(), place);
}

void StepLowering::lowerGroupedWeightGrad(graph::GroupedWeightGradOp op) {
  if (isForGpus_)
    return launchOnViews(op, resultView(op.getResult()));
  const View x = groupedMatrix(op.getX()), grad = groupedMatrix(op.getGrad()),
             place = resultView(op.getResult());
  const View made = isRegular(place) ? place : newBuffer(op.getResult(), ".dense");
  addGrouped(program_, op, x, made, grad, wholeViewOf(op.getEnds()).buffer,
             scalarOf(op.getFirstRow()), scalarOf(op.getFirstGroup()));
  if (!(made == place))
    program_.copy(made, place);
  setView(op.getResult(), place);
}

} // namespace cleave::bufferize
