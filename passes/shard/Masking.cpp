#include "passes/shard/Masking.h"

#include "dialects/graph/Build.h"

#include <limits>

using namespace mlir;

namespace cleave::shard {

static ElementType typeOf(Value value) { return graph::toElementType(graph::elementTypeOf(value)); }

std::vector<PaddedDim> paddedDims(Operation *op, const FactorRule &rule, const FactorAxes &axes,
                                  const Mesh &mesh) {
  std::vector<ElementType> operands;
  for (Value operand : op->getOperands())
    operands.push_back(typeOf(operand));
  return planner::paddedDims(rule, axes, mesh, operands, typeOf(op->getResult(0)));
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
