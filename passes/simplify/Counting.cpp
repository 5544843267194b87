// Simplification: ops on positions alone. Exporters compute indices, and masks of them, that do not
// depend on inputs.
#include "passes/simplify/Affine.h"
#include "passes/simplify/Match.h"
#include "passes/simplify/Patterns.h"

using namespace mlir;

namespace cleave::simplify {
namespace {

using namespace graph;

const Polynomial kUnit(1), kNone;

// Sums and concats of positions with equal elements.
template <typename Op> struct EqualPositions : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Type type = op->getResult(0).getType();
    if (!isa<IntegerType>(elementTypeOf(type)))
      return failure();
    std::optional<Affine> affine = affineOf(op->getResult(0));
    std::optional<int64_t> number = affine ? affine->constant.constant() : std::nullopt;
    if (!number || !affine->isConstant())
      return failure();
    rewriter.replaceOp(op, buildSplat(rewriter, op.getLoc(), type, static_cast<double>(*number)));
    return success();
  }
};

// Whether all numbers between the two bounds compare with 0 by the predicate: true, false, or none
// if it depends on the number.
std::optional<bool> decided(Predicate predicate, const Range &range) {
  bool isNegative = range.greatest && *range.greatest < 0,
       isPositive = range.least && *range.least > 0,
       isNotNegative = range.least && *range.least >= 0,
       isNotPositive = range.greatest && *range.greatest <= 0;
  auto pick = [](bool yes, bool no) {
    return yes ? std::optional(true) : no ? std::optional(false) : std::nullopt;
  };
  switch (predicate) {
  case Predicate::EQ:
    return pick(isNotNegative && isNotPositive, isNegative || isPositive);
  case Predicate::NE:
    return pick(isNegative || isPositive, isNotNegative && isNotPositive);
  case Predicate::LT:
    return pick(isNegative, isNotNegative);
  case Predicate::LE:
    return pick(isNotPositive, isPositive);
  case Predicate::GT:
    return pick(isPositive, isNotPositive);
  case Predicate::GE:
    return pick(isNotNegative, isNegative);
  }
  return std::nullopt;
}

// Comparisons of positions that are true or false everywhere.
struct ComparePositions : OpRewritePattern<CompareOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(CompareOp op, PatternRewriter &rewriter) const override {
    std::optional<Affine> lhs = affineOf(op.getLhs());
    std::optional<Affine> rhs = lhs ? affineOf(op.getRhs()) : std::nullopt;
    if (!rhs)
      return failure();
    Range range = rangeOf(difference(*lhs, *rhs), shapeOf(op.getLhs()));
    std::optional<bool> holds = decided(op.getPredicate(), range);
    if (!holds)
      return failure();
    rewriter.replaceOp(op, buildSplat(rewriter, op.getLoc(), op.getType(), *holds));
    return success();
  }
};

// The dim along which the elements of a tensor are its indices, as those of an iota.
std::optional<size_t> countingDim(Value value) {
  std::optional<Affine> affine = affineOf(value);
  if (!affine || affine->constant != kNone)
    return std::nullopt;
  auto isStep = [](const Polynomial &step) { return step != kNone; };
  auto *step = llvm::find_if(affine->steps, isStep);
  if (step == affine->steps.end() || *step != kUnit || llvm::count_if(affine->steps, isStep) != 1)
    return std::nullopt;
  return step - affine->steps.begin();
}

// A comparison of two tensors that count along different dims is a comparison of two iotas, however
// exporters broadcast them.
struct CompareCounts : OpRewritePattern<CompareOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(CompareOp op, PatternRewriter &b) const override {
    bool isPlain = rankOf(op.getLhs()) == 2 && op.getLhs().getDefiningOp<IotaOp>() &&
                   op.getRhs().getDefiningOp<IotaOp>();
    std::optional<size_t> lhs = isPlain ? std::nullopt : countingDim(op.getLhs());
    std::optional<size_t> rhs = lhs ? countingDim(op.getRhs()) : std::nullopt;
    if (!rhs || lhs == rhs)
      return failure();
    Shape shape = shapeOf(op.getResult());
    size_t major = std::min(*lhs, *rhs), minor = std::max(*lhs, *rhs);
    Type counts = tensorOf({shape[major], shape[minor]}, elementTypeOf(op.getLhs()));
    auto count = [&](size_t dim) -> Value {
      return IotaOp::create(b, op.getLoc(), counts, dim == major ? 0 : 1);
    };
    Value mask = CompareOp::create(b, op.getLoc(), op.getPredicate(), count(*lhs), count(*rhs));
    if (elementCount(mask.getType()) == elementCount(op.getType()))
      mask = buildReshape(b, mask, shape);
    else
      mask =
          BroadcastOp::create(b, op.getLoc(), op.getType(), mask,
                              ArrayRef{static_cast<int64_t>(major), static_cast<int64_t>(minor)});
    b.replaceOp(op, mask);
    return success();
  }
};

// The dims along which the indices count, the largest step first, if together they count without
// gaps or, if it is one dim, with the gap `stride`.
struct Counted {
  SmallVector<int64_t> dims;
  Polynomial count = kUnit; // of indices
  int64_t stride = 1;
};
std::optional<Counted> countedBy(const Affine &affine, const Shape &shape) {
  Counted out;
  SmallVector<int64_t> left;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    if (affine.steps[dim] != kNone)
      left.push_back(static_cast<int64_t>(dim));
  if (left.size() == 1)
    if (std::optional<int64_t> step = affine.steps[left[0]].constant())
      out.stride = *step;
  if (out.stride < 1)
    return std::nullopt;
  while (!left.empty()) {
    auto *next = llvm::find_if(
        left, [&](int64_t dim) { return affine.steps[dim] == out.count * Polynomial(out.stride); });
    if (next == left.end())
      return std::nullopt;
    out.dims.insert(out.dims.begin(), *next);
    out.count *= shape[*next];
    left.erase(next);
  }
  return out;
}

// A gather of consecutive rows is a slice of the table, or a broadcast of that slice.
struct GatherOfPositions : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GatherOp op, PatternRewriter &b) const override {
    std::optional<Affine> affine = op.getBatch() == 0 ? affineOf(op.getIndices()) : std::nullopt;
    Shape indices = shapeOf(op.getIndices());
    std::optional<Counted> counted = affine ? countedBy(*affine, indices) : std::nullopt;
    if (!counted)
      return failure();
    auto dim = static_cast<int64_t>(op.getDim());
    Shape shape = shapeOf(op.getOperand());
    Polynomial behind =
        shape[dim] - affine->constant - (counted->count - 1) * Polynomial(counted->stride);
    // Rows beyond the table would be zero; a symbolic number of rows is assumed to fit.
    if (affine->constant.atLeast(2).value_or(-1) < 0 || behind.atMost(1).value_or(1) < 1)
      return failure();
    shape[dim] = counted->count;
    Value rows = op.getOperand();
    Type type = tensorOf(shape, elementTypeOf(rows));
    if (type != rows.getType())
      rows = SliceOp::create(b, op.getLoc(), type, rows, dim, affine->constant, counted->stride);
    b.replaceOp(op, spread(op, rows, *counted, indices, b));
    return success();
  }

  // The rows, at the indices' dims.
  static Value spread(GatherOp op, Value rows, const Counted &counted, const Shape &indices,
                      PatternRewriter &b) {
    auto dim = static_cast<int64_t>(op.getDim());
    int64_t rank = rankOf(rows), parts = static_cast<int64_t>(counted.dims.size());
    Shape split = shapeOf(rows);
    split.erase(split.begin() + dim);
    for (int64_t part : llvm::reverse(counted.dims))
      split.insert(split.begin() + dim, indices[part]);
    Value value = buildReshape(b, rows, split);
    SmallVector<int64_t> order, places, sorted(counted.dims);
    llvm::sort(sorted);
    for (int64_t i = 0; i < dim; ++i) {
      order.push_back(i);
      places.push_back(i);
    }
    for (int64_t part : sorted) {
      order.push_back(dim + (llvm::find(counted.dims, part) - counted.dims.begin()));
      places.push_back(dim + part);
    }
    for (int64_t i = dim + 1; i < rank; ++i) {
      order.push_back(i - 1 + parts);
      places.push_back(i - 1 + static_cast<int64_t>(indices.size()));
    }
    value = buildTranspose(b, value, order);
    if (elementCount(value.getType()) == elementCount(op.getType()))
      return buildReshape(b, value, shapeOf(op));
    return BroadcastOp::create(b, op.getLoc(), op.getType(), value, places);
  }
};

// Sums of zeros, products of ones, maxima and minima of equal elements.
struct ScanOfSplat : OpRewritePattern<ScanOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ScanOp op, PatternRewriter &rewriter) const override {
    std::optional<double> splat = splatValue(op.getOperand());
    bool stays = op.getKind() == Reduction::Max || op.getKind() == Reduction::Min ||
                 splat == (op.getKind() == Reduction::Sum ? 0.0 : 1.0);
    if (!splat || !stays)
      return failure();
    rewriter.replaceOp(op, op.getOperand());
    return success();
  }
};

// An iota with additional dims of size one is a reshape of one without them.
struct IotaOfOneDim : OpRewritePattern<IotaOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(IotaOp op, PatternRewriter &rewriter) const override {
    Shape shape = shapeOf(op.getResult());
    Polynomial size = shape[op.getDim()];
    if (shape.size() == 1 || elementCount(op.getType()) != size)
      return failure();
    Value counted =
        IotaOp::create(rewriter, op.getLoc(), tensorOf({size}, elementTypeOf(op.getType())), 0);
    rewriter.replaceOp(op, buildReshape(rewriter, counted, shape));
    return success();
  }
};

} // namespace

void addCountingPatterns(RewritePatternSet &patterns) {
  patterns.add<EqualPositions<AddOp>, EqualPositions<SubOp>, EqualPositions<ConcatOp>,
               ComparePositions, CompareCounts, GatherOfPositions, ScanOfSplat, IotaOfOneDim>(
      patterns.getContext());
}

} // namespace cleave::simplify
