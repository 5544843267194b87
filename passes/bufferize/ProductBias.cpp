// Recognises the addition of a bias.
#include "passes/bufferize/ProductBias.h"

using namespace mlir;

namespace cleave::bufferize {

// The argument of the group's body that `value` repeats along all dims but the last ones, and
// rounds at most once; null if `value` is computed in another way. The dims of the argument are the
// last `columns` dims.
static BlockArgument repeatedRow(Value value, int64_t columns) {
  bool isRepeated = false, isCast = false;
  for (Operation *op = value.getDefiningOp(); op; op = value.getDefiningOp()) {
    auto broadcast = dyn_cast<graph::BroadcastOp>(op);
    bool &isDone = broadcast ? isRepeated : isCast;
    if (isDone || (!broadcast && !isa<graph::CastOp>(op)))
      return {};
    isDone = true;
    if (broadcast) {
      const int64_t rank = graph::rankOf(value);
      if (!llvm::equal(broadcast.getDims(), llvm::seq(rank - columns, rank)))
        return {};
    }
    value = op->getOperand(0);
  }
  return isRepeated ? dyn_cast<BlockArgument>(value) : BlockArgument();
}

std::optional<ProductBias> productBias(graph::DotGeneralOp product) {
  constexpr int64_t kChunk = 8; // 16-bit elements in 16 bytes
  Value result = product.getResult();
  if (!result.hasOneUse() || !isa<FloatType>(graph::elementTypeOf(result)) ||
      graph::elementTypeOf(result).getIntOrFloatBitWidth() != 16)
    return std::nullopt;
  OpOperand &use = *result.use_begin();
  auto group = dyn_cast<graph::FusionOp>(use.getOwner());
  if (!group || group.getNumResults() != 1 || group.getResult(0).getType() != result.getType())
    return std::nullopt;
  Block &body = group.getBody().front();
  Value argument = body.getArgument(use.getOperandNumber());
  auto add = body.getTerminator()->getOperand(0).getDefiningOp<graph::AddOp>();
  if (!add || (add.getLhs() == argument) == (add.getRhs() == argument))
    return std::nullopt;
  const int64_t columns =
      graph::rankOf(product.getRhs()) -
      static_cast<int64_t>(product.getRhsBatch().size() + product.getRhsContracting().size());
  BlockArgument row = repeatedRow(add.getLhs() == argument ? add.getRhs() : add.getLhs(), columns);
  if (!row || row == argument)
    return std::nullopt;
  int64_t elements = 1;
  for (int64_t size : graph::staticShapeOf(row))
    elements *= size;
  if (elements % kChunk != 0)
    return std::nullopt;
  return ProductBias{group.getResult(0), group.getOperand(row.getArgNumber())};
}

} // namespace cleave::bufferize
