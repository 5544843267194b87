// Simplification: recognises layer_norm and rms_norm by their reductions: first the normalised
// value alone (scale 1, bias 0), then scale and bias.
#include "passes/simplify/Match.h"
#include "passes/simplify/Patterns.h"

#include <numeric>

using namespace mlir;

namespace cleave::simplify {
namespace {

using namespace graph;

// If `value` is a mean over the last dims, the operand of the mean and the number of dims; else
// null. Dims of size 1 may stand for the reduced ones.
struct Mean {
  Value of;
  int64_t dims = 0;
};
Mean meanOf(Value value) {
  Product product = productOf(withoutUnitDims(value));
  if (product.factors.size() != 1)
    return {};
  auto reduce = withoutUnitDims(product.factors[0]).getDefiningOp<ReduceOp>();
  if (!reduce || reduce.getKind() != Reduction::Sum)
    return {};
  Value of = reduce.getOperand();
  auto count = static_cast<int64_t>(reduce.getDims().size());
  SmallVector<int64_t> dims(reduce.getDims()), last(count);
  std::iota(last.begin(), last.end(), rankOf(of) - count);
  llvm::sort(dims);
  Polynomial elements(1);
  for (int64_t dim : dims)
    elements *= shapeOf(of)[dim];
  std::optional<int64_t> number = elements.constant();
  if (dims != last || !number || !isNear(product.number, 1.0 / static_cast<double>(*number)))
    return {};
  return {of, count};
}

// The operand that `value` repeats along its last `dims` dims; null if there is none.
Value repeatedAlongLast(Value value, int64_t dims) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  if (!broadcast || rankOf(broadcast.getOperand()) != rankOf(value) - dims)
    return nullptr;
  for (auto [i, dim] : llvm::enumerate(broadcast.getDims()))
    if (static_cast<int64_t>(i) != dim)
      return nullptr;
  return broadcast.getOperand();
}

// The operand that `value` repeats along all but its last dims, which are the operand's dims.
Value repeatedAlongFirst(Value value, Type type) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  if (!broadcast || broadcast.getOperand().getType() != type)
    return nullptr;
  int64_t shift = rankOf(value) - rankOf(broadcast.getOperand());
  for (auto [i, dim] : llvm::enumerate(broadcast.getDims()))
    if (static_cast<int64_t>(i) + shift != dim)
      return nullptr;
  return broadcast.getOperand();
}

// The operand of the square root in a deviation, mean(x^2) + epsilon.
struct Root {
  Value x;
  int64_t dims = 0;
  double epsilon = 0;
};
std::optional<Root> rootOf(Value shifted) {
  auto sum = withoutUnitDims(shifted).getDefiningOp<AddOp>();
  if (!sum)
    return std::nullopt;
  for (auto [mean, number] :
       {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())}) {
    std::optional<double> epsilon = splatValue(number);
    Mean squares = epsilon ? meanOf(mean) : Mean();
    auto square = squares.of ? squares.of.getDefiningOp<MulOp>() : MulOp();
    if (square && square.getLhs() == square.getRhs())
      return Root{square.getLhs(), squares.dims, *epsilon};
  }
  return std::nullopt;
}

// Follows a rank-preserving path from the broadcast of a row's statistic back to `sqrt` or `rsqrt`.
template <typename Op> Op statistic(Value value) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  return broadcast ? withoutUnitDims(broadcast.getOperand()).getDefiningOp<Op>() : Op();
}

// c / sqrt(mean(c^2) + epsilon), also written with rsqrt, is an rms_norm of c, and a layer_norm of
// x if c is x - mean(x).
LogicalResult rewriteNormalised(Operation *op, Value centred, Value deviation, Value shifted,
                                PatternRewriter &rewriter) {
  std::optional<Root> root = rootOf(shifted);
  if (!root || root->x != centred || !repeatedAlongLast(deviation, root->dims))
    return failure();
  Shape shape = shapeOf(centred);
  Type last = tensorOf(Shape(shape.end() - root->dims, shape.end()), elementTypeOf(centred));
  Location loc = op->getLoc();
  FloatAttr epsilon = rewriter.getF64FloatAttr(root->epsilon);
  Value one = buildSplat(rewriter, loc, last, 1);
  auto difference = centred.getDefiningOp<SubOp>();
  Value row = difference ? repeatedAlongLast(difference.getRhs(), root->dims) : Value();
  Mean mean = row ? meanOf(row) : Mean();
  if (mean.of && mean.of == difference.getLhs() && mean.dims == root->dims)
    rewriter.replaceOpWithNewOp<LayerNormOp>(op, centred.getType(), mean.of, one,
                                             buildSplat(rewriter, loc, last, 0), epsilon);
  else
    rewriter.replaceOpWithNewOp<RmsNormOp>(op, centred.getType(), centred, one, epsilon);
  return success();
}

struct RecogniseDivided : OpRewritePattern<DivOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DivOp op, PatternRewriter &rewriter) const override {
    auto root = statistic<SqrtOp>(op.getRhs());
    if (!root)
      return failure();
    return rewriteNormalised(op, op.getLhs(), op.getRhs(), root.getOperand(), rewriter);
  }
};

struct RecogniseMultiplied : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MulOp op, PatternRewriter &rewriter) const override {
    for (auto [value, row] :
         {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
      Value shifted;
      if (auto rsqrt = statistic<RsqrtOp>(row))
        shifted = rsqrt.getOperand();
      else if (auto div = statistic<DivOp>(row); div && isSplatOf(div.getLhs(), 1))
        if (auto root = withoutUnitDims(div.getRhs()).getDefiningOp<SqrtOp>())
          shifted = root.getOperand();
      if (shifted && succeeded(rewriteNormalised(op, value, row, shifted, rewriter)))
        return success();
    }
    return failure();
  }
};

// The norm whose only use leads to `value`, directly or through a cast, as in half-precision
// models.
template <typename Norm> Norm normOf(Value value) {
  auto cast = value.getDefiningOp<CastOp>();
  auto norm = (cast ? cast.getOperand() : value).template getDefiningOp<Norm>();
  return norm && norm->hasOneUse() && (!cast || cast->hasOneUse()) ? norm : Norm();
}

// norm(x) with scale 1 and bias 0, times a scale over the last dims.
template <typename Norm> struct TakeScale : OpRewritePattern<MulOp> {
  using OpRewritePattern<MulOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(MulOp op, PatternRewriter &rewriter) const override {
    for (auto [value, factor] :
         {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
      Norm norm = normOf<Norm>(value);
      if (!norm || !isSplatOf(norm.getScale(), 1) || !hasNoBias(norm))
        continue;
      Type type = norm.getScale().getType(), element = elementTypeOf(op.getType());
      Value scale = repeatedAlongFirst(factor, tensorOf(shapeOf(type), element));
      if (!scale)
        continue;
      Operation *scaled = rewriter.clone(*norm);
      scaled->setOperand(1, buildCast(rewriter, scale, elementTypeOf(type)));
      scaled->moveBefore(op);
      rewriter.replaceOp(op, buildCast(rewriter, scaled->getResult(0), element));
      return success();
    }
    return failure();
  }

  static bool hasNoBias(LayerNormOp norm) { return isSplatOf(norm.getBias(), 0); }
  static bool hasNoBias(RmsNormOp) { return true; }
};

struct TakeBias : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AddOp op, PatternRewriter &rewriter) const override {
    for (auto [value, summand] :
         {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
      auto norm = normOf<LayerNormOp>(value);
      if (!norm || !isSplatOf(norm.getBias(), 0))
        continue;
      Type type = norm.getBias().getType(), element = elementTypeOf(op.getType());
      Value bias = repeatedAlongFirst(summand, tensorOf(shapeOf(type), element));
      if (!bias)
        continue;
      Value shifted = LayerNormOp::create(
          rewriter, op.getLoc(), norm.getType(), norm.getOperand(), norm.getScale(),
          buildCast(rewriter, bias, elementTypeOf(type)), norm.getEpsilonAttr());
      rewriter.replaceOp(op, buildCast(rewriter, shifted, element));
      return success();
    }
    return failure();
  }
};

} // namespace

void addNormPatterns(RewritePatternSet &patterns) {
  patterns.add<RecogniseDivided, RecogniseMultiplied, TakeScale<LayerNormOp>, TakeScale<RmsNormOp>,
               TakeBias>(patterns.getContext());
}

} // namespace cleave::simplify
