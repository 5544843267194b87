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

bool takesChannelsLast(Operation *op) {
  return isa<graph::PoolOp>(op) || isChannelsLastConvolution(op);
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
