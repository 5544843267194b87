// Questions about single ops.
#include "dialects/graph/Cost.h"

#include "runtime/base/ConvolutionLowering.h"

using namespace mlir;

namespace cleave::graph {

bool isCostly(Operation *op) {
  constexpr int64_t kCostlyFlops = 10;
  auto pointwise = dyn_cast<PointwiseInterface>(op);
  return pointwise && pointwise.getFlopsPerElement() >= kCostlyFlops;
}

bool isReadSparsely(Operation *op, unsigned operand) {
  return op->hasTrait<TableLookup>() && operand == 0;
}

template <typename Op> static double columnsOf(Op op, ConvolutionPass pass, Value weight) {
  std::vector<int64_t> shape = staticShapeOf(weight);
  const int64_t groups = static_cast<int64_t>(op.getGroups());
  const std::span<const int64_t> kernel = std::span(shape).subspan(2);
  auto plain = [](ArrayRef<int64_t> list) { return std::span(list.data(), list.size()); };
  const ConvolutionForm form{.groups = groups,
                             .inputs = shape[1],
                             .outputs = shape[0] / groups,
                             .kernel = kernel,
                             .strides = plain(op.getStrides()),
                             .dilations = plain(op.getDilations()),
                             .padsLow = plain(op.getPadsLow()),
                             .padsHigh = plain(op.getPadsHigh())};
  return cleave::loweredColumns(pass, form,
                                static_cast<double>(op.getFlops().constant().value_or(0)));
}

double loweredColumns(Operation *op) {
  if (auto conv = dyn_cast<ConvOp>(op))
    return columnsOf(conv, ConvolutionPass::Forward, conv.getWeight());
  if (auto grad = dyn_cast<ConvInputGradOp>(op))
    return columnsOf(grad, ConvolutionPass::InputGradient, grad.getWeight());
  if (auto grad = dyn_cast<ConvWeightGradOp>(op))
    return columnsOf(grad, ConvolutionPass::WeightGradient, grad.getResult());
  return 0;
}

int64_t touchedBytes(Operation *op) {
  auto bytesOf = [](Value value) { return byteCount(value.getType()).constant().value_or(0); };
  int64_t written = 0;
  for (Value result : op->getResults())
    written += bytesOf(result);
  int64_t bytes = written;
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    bytes += isReadSparsely(op, i) ? std::min(bytesOf(operand), written) : bytesOf(operand);
  return bytes;
}

} // namespace cleave::graph
