#include "passes/bufferize/Convolution.h"

#include "passes/bufferize/Workspace.h"

using namespace mlir;

namespace cleave::bufferize {

template <typename Op>
static void addConvolution(ProgramBuilder &program, Op op, program::ConvolutionKind kind,
                           const View &input, const View &weight, const View &output,
                           Value workspace, bool isChannelsLast, UnitAttr tf32) {
  OpBuilder &b = program.builder();
  auto list = [&](ArrayRef<int64_t> values) { return b.getDenseI64ArrayAttr(values); };
  program.add<program::ConvolutionOp>(
      program::ConvolutionKindAttr::get(b.getContext(), kind), input.buffer, weight.buffer,
      output.buffer, workspace, list(input.shape), list(weight.shape), list(output.shape),
      list(op.getStrides()), list(op.getDilations()), list(op.getPadsLow()), list(op.getPadsHigh()),
      op.getGroupsAttr(), isChannelsLast ? b.getUnitAttr() : UnitAttr(), tf32);
}

static int64_t groupsOf(Operation *convolution) {
  return convolution->getAttrOfType<IntegerAttr>("groups").getInt();
}

void lowerConvolution(Operation *op, ProgramBuilder &program, ValueViews &views,
                      GpuLibraries &libraries) {
  const bool isLast = program::isForGpus(op) && analysis::isChannelsLastConvolution(op);
  const SmallVector<int64_t> order =
      isLast ? analysis::channelsLastOrder(graph::rankOf(op->getOperand(0)))
             : SmallVector<int64_t>();
  View first = views.wholeOf(op->getOperand(0), order),
       second = views.wholeOf(op->getOperand(1), order);
  View result = views.wholeResult(op->getResult(0), order);
  const int64_t elementBytes = ProgramBuilder::elementOf(first.buffer).getIntOrFloatBitWidth() / 8;
  Value workspace = libraries.newWorkspace(convolutionWorkspace(
      {first.shape, second.shape, result.shape}, elementBytes, isLast, groupsOf(op)));
  UnitAttr tf32 = libraries.tf32For(first);
  using Kind = program::ConvolutionKind;
  if (auto conv = dyn_cast<graph::ConvOp>(op))
    addConvolution(program, conv, Kind::Forward, first, second, result, workspace, isLast, tf32);
  else if (auto grad = dyn_cast<graph::ConvInputGradOp>(op))
    addConvolution(program, grad, Kind::InputGradient, result, second, first, workspace, isLast,
                   tf32);
  else
    addConvolution(program, cast<graph::ConvWeightGradOp>(op), Kind::WeightGradient, second, result,
                   first, workspace, isLast, tf32);
  views.finishWhole(op->getResult(0), result);
}

} // namespace cleave::bufferize
