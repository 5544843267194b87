#include "passes/shard/Masking.h"

#include "dialects/graph/Build.h"

#include <limits>

using namespace mlir;

namespace cleave::shard {

std::vector<PaddedDim> paddedDims(Operation *op, const FactorRule &rule, const FactorAxes &axes,
                                  const Mesh &mesh) {
  std::vector<PaddedDim> result;
  Type element = graph::elementTypeOf(op->getResult(0));
  for (size_t i = 0; i < rule.operands.size(); ++i) {
    Type operand = graph::elementTypeOf(op->getOperand(i));
    if (operand != element && !isa<FloatType>(operand))
      continue; // positions: what they would choose is neutral already
    for (size_t d = 0; d < rule.operands[i].size(); ++d)
      for (int f : rule.operands[i][d]) {
        const Factor &factor = rule.factors[f];
        int64_t size = *factor.size.constant();
        if (!axes[f].empty() && factor.kind == FactorKind::Reduction &&
            size % mesh.ranksAlong(axes[f]))
          result.push_back(
              {static_cast<unsigned>(i), static_cast<int64_t>(d), f, size, factor.reduce});
      }
  }
  return result;
}

// The neutral element of a sum, maximum or minimum.
static double neutral(ReduceKind kind, Type element) {
  if (kind == ReduceKind::Sum)
    return 0;
  bool isMax = kind == ReduceKind::Max;
  if (element.isInteger(1))
    return isMax ? 0 : 1;
  double infinite = std::numeric_limits<double>::infinity();
  return isMax ? -infinite : infinite; // of integers the smallest and the largest
}

Value maskPadding(OpBuilder &b, Value block, const PaddedDim &padded, Value offset) {
  Location loc = block.getLoc();
  auto type = cast<RankedTensorType>(block.getType());
  auto positions = RankedTensorType::get(type.getShape(), b.getI64Type());
  Value position = graph::IotaOp::create(b, loc, positions, static_cast<uint64_t>(padded.dim));
  Value begin = graph::BroadcastOp::create(b, loc, positions, offset, ArrayRef<int64_t>{});
  position = graph::AddOp::create(b, loc, position, begin);
  Value end = graph::buildSplat(b, loc, positions, static_cast<double>(padded.size));
  Value isInside = graph::CompareOp::create(b, loc, graph::Predicate::LT, position, end);
  Value filler = graph::buildSplat(b, loc, type, neutral(padded.reduce, type.getElementType()));
  return graph::SelectOp::create(b, loc, isInside, block, filler);
}

} // namespace cleave::shard
