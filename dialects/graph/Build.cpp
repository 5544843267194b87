// Building graph ops.
#include "dialects/graph/Build.h"

using namespace mlir;

namespace cleave::graph {

Value buildSplat(OpBuilder &b, Location loc, Type type, double value) {
  Tensor scalar(toElementType(elementTypeOf(type)), {}, value);
  Value constant = ConstantOp::create(b, loc, toAttribute(scalar, b.getContext()));
  if (cast<RankedTensorType>(type).getRank() == 0)
    return constant;
  return BroadcastOp::create(b, loc, type, constant, ArrayRef<int64_t>());
}

Value buildSize(OpBuilder &b, Location loc, Type element, const Polynomial &numerator,
                const Polynomial &divisor) {
  std::optional<int64_t> above = numerator.constant(), below = divisor.constant();
  auto type = RankedTensorType::get({}, element);
  if (above && below)
    return buildSplat(b, loc, type,
                      static_cast<double>(*above) /
                          static_cast<double>(std::max<int64_t>(*below, 1)));
  return SizesOp::create(b, loc, type, b.getStrArrayAttr({numerator.str()}),
                         b.getStringAttr(divisor.str()));
}

Value buildSizeLike(OpBuilder &b, Value like, const Polynomial &numerator,
                    const Polynomial &divisor) {
  Value scalar = buildSize(b, like.getLoc(), elementTypeOf(like), numerator, divisor);
  if (rankOf(like) == 0)
    return scalar;
  return BroadcastOp::create(b, like.getLoc(), like.getType(), scalar, ArrayRef<int64_t>());
}

Value buildBroadcast(OpBuilder &b, Location loc, Value value, const Shape &shape) {
  Shape from = shapeOf(value), kept;
  SmallVector<int64_t> dims;
  int64_t shift = static_cast<int64_t>(shape.size()) - static_cast<int64_t>(from.size());
  for (size_t d = 0; d < from.size(); ++d) {
    bool repeats = from[d] == Polynomial(1) && shape[d + shift] != Polynomial(1);
    if (repeats)
      continue;
    kept.push_back(from[d]);
    dims.push_back(static_cast<int64_t>(d) + shift);
  }
  if (kept.size() == shape.size())
    return value;
  Value squeezed = buildReshape(b, value, kept);
  return BroadcastOp::create(b, loc, tensorOf(shape, elementTypeOf(value)), squeezed, dims);
}

Value buildBroadcastOver(OpBuilder &b, Value value, Value like, ArrayRef<int64_t> reducedDims) {
  SmallVector<int64_t> dims;
  for (int64_t d = 0; d < rankOf(like); ++d)
    if (!llvm::is_contained(reducedDims, d))
      dims.push_back(d);
  Type type = tensorOf(shapeOf(like), elementTypeOf(value));
  return BroadcastOp::create(b, value.getLoc(), type, value, dims);
}

Value buildReduce(OpBuilder &b, Reduction kind, Value value, ArrayRef<int64_t> dims) {
  if (dims.empty())
    return value;
  return ReduceOp::create(b, value.getLoc(), kind, value, dims);
}

Value buildMean(OpBuilder &b, Value value, ArrayRef<int64_t> dims) {
  Shape shape = shapeOf(value);
  Polynomial count(1);
  for (int64_t dim : dims)
    count *= shape[dim];
  Value sum = buildReduce(b, Reduction::Sum, value, dims);
  std::optional<int64_t> number = count.constant(); // 0: the mean of nothing is NaN
  Value share = number ? buildSplatLike(b, sum, 1.0 / static_cast<double>(*number))
                       : buildSizeLike(b, sum, 1, count);
  return MulOp::create(b, value.getLoc(), sum, share);
}

Value buildReshape(OpBuilder &b, Value value, const Shape &shape) {
  Type type = tensorOf(shape, elementTypeOf(value));
  if (type == value.getType())
    return value;
  return ReshapeOp::create(b, value.getLoc(), type, value);
}

Value buildTranspose(OpBuilder &b, Value value, ArrayRef<int64_t> permutation) {
  if (llvm::is_sorted(permutation))
    return value;
  return TransposeOp::create(b, value.getLoc(), value, permutation);
}

Value buildCast(OpBuilder &b, Value value, Type element) {
  if (elementTypeOf(value) == element)
    return value;
  return CastOp::create(b, value.getLoc(), tensorOf(shapeOf(value), element), value);
}

// Dim `dim` and the last one change places; twice it is the identity.
static Value buildSwapped(OpBuilder &b, Value value, int64_t dim) {
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, rankOf(value)));
  std::swap(permutation[dim], permutation.back());
  return buildTranspose(b, value, permutation);
}

Value buildGatherAlong(OpBuilder &b, Value value, Value indices, int64_t dim) {
  int64_t last = rankOf(value) - 1;
  Value chosen = GatherOp::create(b, value.getLoc(), buildSwapped(b, value, dim),
                                  buildSwapped(b, indices, dim), last, last);
  return buildSwapped(b, chosen, dim);
}

Value buildScatterAlong(OpBuilder &b, Reduction kind, Value updates, Value indices, int64_t dim,
                        const Polynomial &size) {
  int64_t last = rankOf(updates) - 1;
  Value swapped = buildSwapped(b, updates, dim);
  Shape shape = shapeOf(swapped);
  shape[last] = size;
  Value combined = ScatterOp::create(b, updates.getLoc(), tensorOf(shape, elementTypeOf(updates)),
                                     kind, swapped, buildSwapped(b, indices, dim), last, last);
  return buildSwapped(b, combined, dim);
}

Value buildDot(OpBuilder &b, Location loc, Type element, Value lhs, Value rhs,
               ArrayRef<int64_t> lhsBatch, ArrayRef<int64_t> rhsBatch,
               ArrayRef<int64_t> lhsContracting, ArrayRef<int64_t> rhsContracting) {
  auto dot =
      DotGeneralOp::create(b, loc, lhs, rhs, lhsBatch, rhsBatch, lhsContracting, rhsContracting);
  dot.getResult().setType(cast<RankedTensorType>(dot.getType()).clone(element));
  return dot;
}

Value buildMatmul(OpBuilder &b, Value lhs, Value rhs) {
  int64_t rank = rankOf(lhs);
  SmallVector<int64_t> batch;
  for (int64_t d = 0; d < rank - 2; ++d)
    batch.push_back(d);
  return DotGeneralOp::create(b, lhs.getLoc(), lhs, rhs, batch, batch, ArrayRef<int64_t>{rank - 1},
                              ArrayRef<int64_t>{rank - 2});
}

} // namespace cleave::graph
