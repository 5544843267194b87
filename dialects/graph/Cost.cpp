// Questions about single ops.
#include "dialects/graph/Cost.h"

#include "dialects/graph/Attention.h"
#include "dialects/graph/Direct.h"
#include "dialects/graph/GroupedMatmul.h"
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

// The elements of the columns of a convolution that a CPU's library lowers; 0 for other ops.
static double loweredColumns(Operation *op) {
  if (auto conv = dyn_cast<ConvOp>(op))
    return columnsOf(conv, ConvolutionPass::Forward, conv.getWeight());
  if (auto grad = dyn_cast<ConvInputGradOp>(op))
    return columnsOf(grad, ConvolutionPass::InputGradient, grad.getWeight());
  if (auto grad = dyn_cast<ConvWeightGradOp>(op))
    return columnsOf(grad, ConvolutionPass::WeightGradient, grad.getResult());
  return 0;
}

// Bytes read and written. A lookup reads at most as many bytes of its table as it writes.
static int64_t touchedBytes(Operation *op) {
  auto bytesOf = [](Value value) { return byteCount(value.getType()).constant().value_or(0); };
  int64_t written = 0;
  for (Value result : op->getResults())
    written += bytesOf(result);
  int64_t bytes = written;
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    bytes += isReadSparsely(op, i) ? std::min(bytesOf(operand), written) : bytesOf(operand);
  return bytes;
}

// The type of the factors of a product; other kernels compute in f32.
static std::string computeType(Operation *op) {
  const ElementType type = toElementType(elementTypeOf(op->getOperand(0)));
  return std::string(name(isFloat(type) ? type : ElementType::F32));
}

KernelWork workOf(Operation *op) {
  KernelWork work{.bytes = static_cast<double>(touchedBytes(op)), .isProduct = false};
  auto cost = dyn_cast<CostInterface>(op);
  if (!cost)
    return work;
  work.flops = static_cast<double>(cost.getFlops().constant().value_or(0));
  if (isDirect(op)) {
    work.directResults = static_cast<double>(llvm::product_of(staticShapeOf(op->getResult(0))));
    return work;
  }
  if (!op->hasTrait<MatrixProduct>())
    return work;
  work.isProduct = true;
  work.elementType = computeType(op);
  work.columns = loweredColumns(op);
  work.isAttention = isa<AttentionOp, AttentionGradOp>(op);
  if (work.isAttention) {
    const AttentionSizes sizes = attentionSizes(op);
    work.countedShare = countedShare(sizes.queries, sizes.keys, isCausalAttention(op));
  }
  work.grouped = groupedSizes(op).value_or(GroupedSizes());
  if (isLibraryAttention(op))
    work.library = {.sizes = attentionSizes(op), .isGradient = isa<AttentionGradOp>(op)};
  return work;
}

} // namespace cleave::graph
