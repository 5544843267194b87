// See ChannelsLast.h.
#include "compiler/analysis/ChannelsLast.h"

#include "dialects/graph/Direct.h"

using namespace mlir;

namespace cleave::analysis {

SmallVector<int64_t> channelsLastOrder(int64_t rank) {
  SmallVector<int64_t> order = {0};
  llvm::append_range(order, llvm::seq<int64_t>(2, rank));
  order.push_back(1);
  return order;
}

bool isChannelsLastConvolution(Operation *op) {
  return isa<graph::ConvOp, graph::ConvInputGradOp, graph::ConvWeightGradOp>(op) &&
         !graph::isDirect(op) &&
         graph::elementTypeOf(op->getOperand(0)).getIntOrFloatBitWidth() == 16;
}

template <typename Op> static bool isSmall(Op pool, Value windows) {
  constexpr int64_t kMost = 32; // elements that a thread compares, and writes, at a time
  const std::vector<int64_t> in = graph::staticShapeOf(pool.getInput()),
                             out = graph::staticShapeOf(windows);
  int64_t compared = 1, written = 1;
  for (size_t d = 0; d < pool.getKernel().size(); ++d) {
    const int64_t kernel = pool.getKernel()[d], stride = pool.getStrides()[d],
                  pad = pool.getPadsLow()[d];
    if (pool.getDilations()[d] != 1 || pad < 0 || pad >= kernel || in[2 + d] * out[2 + d] == 0 ||
        (out[2 + d] - 1) * stride - pad >= in[2 + d])
      return false;
    compared *= d == 0 ? kernel : kernel * llvm::divideCeil(kernel, stride);
    written *= stride;
  }
  return pool.getKind() == graph::PoolKind::Max && compared <= kMost && written <= kMost;
}

bool isSmallMaxPool(Operation *op) {
  if (auto pool = dyn_cast<graph::PoolOp>(op))
    return isSmall(pool, pool.getResult());
  auto grad = dyn_cast<graph::PoolGradOp>(op);
  return grad && isSmall(grad, grad.getGrad());
}

bool takesChannelsLast(Operation *op) {
  return isa<graph::PoolOp>(op) || isSmallMaxPool(op) || isChannelsLastConvolution(op);
}

static bool isPool(Operation *op) { return isa<graph::PoolOp, graph::PoolGradOp>(op); }

// Whether the op computes elements on any order in memory.
static bool acceptsAnyOrder(Operation *op) {
  return isa<graph::FusionOp, graph::PointwiseInterface, graph::ReduceOp>(op) || isPool(op) ||
         isChannelsLastConvolution(op);
}

ChannelsLast::ChannelsLast(func::FuncOp step) {
  for (Operation &op : step.getBody().front())
    for (Value result : op.getResults())
      if (isa<RankedTensorType>(result.getType()) && graph::rankOf(result) >= 3 &&
          follows(&op, result))
        values_.insert(result);
}

bool ChannelsLast::follows(Operation *op, Value result) const {
  if (isChannelsLastConvolution(op))
    return !isa<graph::ConvWeightGradOp>(op);
  const bool isElementwise = isa<graph::FusionOp, graph::PointwiseInterface>(op);
  const bool moves = isa<graph::PadOp, graph::ReshapeOp>(op);
  if (!isElementwise && !isPool(op) && !moves)
    return false;
  if ((isElementwise || moves) && llvm::any_of(result.getUsers(), isChannelsLastConvolution))
    return true;
  if (moves)
    return false;
  return llvm::all_of(result.getUsers(), acceptsAnyOrder) &&
         llvm::any_of(op->getOperands(), [&](Value operand) {
           return contains(operand) &&
                  (isPool(op) || graph::shapeOf(operand) == graph::shapeOf(result));
         });
}

} // namespace cleave::analysis
