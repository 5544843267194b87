// See Repeats.h.
#include "passes/simplify/Repeats.h"

using namespace mlir;

namespace cleave::simplify {
namespace {

using namespace graph;
using Dims = llvm::SmallBitVector;

constexpr int kMaxRepeatDepth = 12; // ops that are looked through on one path

// Per dim of a reshape's result the dim of its operand that has the same elements in the same
// places: of the same size, after the same number of elements. -1 where there is none.
SmallVector<int64_t> keptDims(ReshapeOp op) {
  Shape from = shapeOf(op.getOperand()), to = shapeOf(op.getResult());
  SmallVector<int64_t> kept(to.size(), -1);
  Polynomial before = 1;
  for (size_t d = 0; d < to.size(); before *= to[d++]) {
    Polynomial passed = 1;
    for (size_t f = 0; f < from.size(); passed *= from[f++])
      if (passed == before && from[f] == to[d] && to[d] != Polynomial(1))
        kept[d] = static_cast<int64_t>(f);
  }
  return kept;
}

// Per dim of a movement op's result the dim of its operand with the same positions: -1 for a dim
// that only the result has, kOther for one that depends on the operand in another way. None for
// other ops.
constexpr int64_t kOther = -2;
std::optional<SmallVector<int64_t>> sourceDims(Operation *op) {
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    SmallVector<int64_t> source(rankOf(broadcast), -1);
    for (auto [i, dim] : llvm::enumerate(broadcast.getDims()))
      source[dim] = static_cast<int64_t>(i);
    return source;
  }
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return SmallVector<int64_t>(transpose.getPermutation());
  if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    SmallVector<int64_t> source = keptDims(reshape);
    std::replace(source.begin(), source.end(), int64_t(-1), kOther);
    return source;
  }
  return std::nullopt;
}

Dims unitDims(Value value) {
  Dims dims(rankOf(value));
  for (auto [d, size] : llvm::enumerate(shapeOf(value)))
    dims[d] = size == Polynomial(1);
  return dims;
}

Dims repeatedIn(Value value, int depth) {
  Dims dims = unitDims(value);
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return dims;
  if (splatValue(value))
    return dims.set();
  if (auto iota = dyn_cast<IotaOp>(op)) {
    Dims others(rankOf(value), true);
    others.reset(iota.getDim());
    return dims |= others;
  }
  if (isa<PointwiseInterface>(op) && op->getNumOperands() > 0) {
    Dims all(rankOf(value), true);
    for (Value operand : op->getOperands())
      all &= rankOf(operand) == rankOf(value) ? repeatedIn(operand, depth - 1) : unitDims(value);
    return dims |= all;
  }
  if (std::optional<SmallVector<int64_t>> source = sourceDims(op)) {
    Dims before = repeatedIn(op->getOperand(0), depth - 1);
    for (auto [d, from] : llvm::enumerate(*source))
      if (from == -1 || (from >= 0 && before[from]))
        dims.set(d);
  }
  return dims;
}

Type shrunkType(Value value, const Dims &dims) {
  Shape shape = shapeOf(value);
  for (unsigned d : dims.set_bits())
    shape[d] = 1;
  return tensorOf(shape, elementTypeOf(value));
}

Value shrunk(OpBuilder &b, Value value, Dims dims);

// The movement op `op` on an operand without these repeats of its result.
Value shrunkMove(OpBuilder &b, Operation *op, const Dims &dims) {
  Value operand = op->getOperand(0);
  SmallVector<int64_t> source = *sourceDims(op);
  Dims before(rankOf(operand));
  for (unsigned d : dims.set_bits())
    if (source[d] >= 0)
      before.set(source[d]);
  Value moved = shrunk(b, operand, before);
  Type type = shrunkType(op->getResult(0), dims);
  auto broadcast = dyn_cast<BroadcastOp>(op);
  if (broadcast && elementCount(moved.getType()) == elementCount(type) &&
      llvm::is_sorted(broadcast.getDims()))
    return buildReshape(b, moved, shapeOf(type));
  return cloneWith(b, op, moved, type)[0];
}

// `dims` are repeated dims that are larger than 1.
Value shrunk(OpBuilder &b, Value value, Dims dims) {
  dims.reset(unitDims(value));
  if (dims.none())
    return value;
  if (std::optional<double> number = splatValue(value))
    return buildSplat(b, value.getLoc(), shrunkType(value, dims), *number);
  Operation *op = value.getDefiningOp();
  if (isa<PointwiseInterface>(op)) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(shrunk(b, operand, dims));
    return cloneWith(b, op, operands, shrunkType(value, dims))[0];
  }
  return isa<IotaOp>(op) ? cloneWith(b, op, {}, shrunkType(value, dims))[0]
                         : shrunkMove(b, op, dims);
}

} // namespace

Dims repeatedDims(Value value) { return repeatedIn(value, kMaxRepeatDepth); }
Value withoutRepeats(OpBuilder &b, Value value, const Dims &dims) { return shrunk(b, value, dims); }

} // namespace cleave::simplify
