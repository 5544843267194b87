// Simplification: recognises cross entropy by the log-probabilities of labels (ChosenTerms.h) and
// their mean. Ignored labels count neither in the sum nor in the number of elements.
#include "passes/simplify/ChosenTerms.h"
#include "passes/simplify/Patterns.h"

using namespace mlir;

namespace cleave::simplify {
namespace {

using namespace graph;

// The sum of all elements of `of`, times a number, divided by a number that has symbols (or 1).
struct WholeSum {
  Value of;
  double number = 0;
  Polynomial divisor = 1;
};
WholeSum wholeSumOf(Value value) {
  WholeSum sum;
  Product product = productOf(value);
  for (Value factor : product.factors) {
    auto sizes = withoutUnitDims(factor).getDefiningOp<SizesOp>();
    auto reduce = withoutUnitDims(factor).getDefiningOp<ReduceOp>();
    bool isShare = sizes && sizes.getValues().size() == 1 &&
                   cast<StringAttr>(sizes.getValues()[0]).getValue() == "1";
    bool isSum = reduce && reduce.getKind() == Reduction::Sum &&
                 static_cast<int64_t>(reduce.getDims().size()) == rankOf(reduce.getOperand());
    std::optional<Polynomial> divisor =
        isShare ? Polynomial::parse(sizes.getDivisor().str()) : std::nullopt;
    if (isSum && !sum.of)
      sum.of = reduce.getOperand();
    else if (divisor && sum.divisor == Polynomial(1))
      sum.divisor = *divisor;
    else
      return {};
  }
  sum.number = product.number;
  return sum;
}

// The dim of a reshape's result that equals the operand's dim `dim`: of the same size, after the
// same number of elements. -1 if there is none.
int64_t dimAfter(ReshapeOp reshape, int64_t dim) {
  Shape from = shapeOf(reshape.getOperand()), to = shapeOf(reshape.getResult());
  Polynomial wanted = 1, before = 1;
  for (int64_t d = 0; d < dim; ++d)
    wanted = wanted * from[d];
  for (size_t d = 0; d < to.size(); before = before * to[d++])
    if (before == wanted && to[d] == from[dim])
      return static_cast<int64_t>(d);
  return -1;
}

// The log_softmax before moves that keep its dim and make it the last one.
LogSoftmaxOp logSoftmaxBehind(const Moved &moved) {
  auto softmax = moved.source.getDefiningOp<LogSoftmaxOp>();
  if (!softmax)
    return nullptr;
  auto dim = static_cast<int64_t>(softmax.getDim());
  for (Operation *move : llvm::reverse(moved.moves)) {
    if (auto transpose = dyn_cast<TransposeOp>(move)) {
      dim = llvm::find(transpose.getPermutation(), dim) - transpose.getPermutation().begin();
    } else if (auto reshape = dyn_cast<ReshapeOp>(move)) {
      dim = dimAfter(reshape, dim);
      if (dim < 0)
        return nullptr;
    } else if (auto slice = dyn_cast<SliceOp>(move)) {
      if (static_cast<int64_t>(slice.getDim()) == dim)
        return nullptr;
    } else {
      return nullptr;
    }
  }
  Value end = moved.moves.empty() ? moved.source : moved.moves.front()->getResult(0);
  return dim + 1 == rankOf(end) ? softmax : LogSoftmaxOp();
}

// `sum` is the sum over the labels that count, times `number`. Returns the loss, if it is one.
LogicalResult rewrite(Operation *op, Chosen chosen, PatternRewriter &b) {
  Value logits = chosen.table;
  if (!chosen.holdsLogits) {
    Moved moved = behindMoves(chosen.table);
    LogSoftmaxOp softmax = logSoftmaxBehind(moved);
    if (!softmax)
      return failure();
    logits = moveAlike(b, softmax.getOperand(), moved.moves);
  }
  Shape positions = shapeOf(logits);
  positions.pop_back();
  Value labels = buildReshape(b, chosen.labels, positions);
  Value loss = SoftmaxCrossEntropyOp::create(b, op->getLoc(), logits, labels,
                                             chosen.counts ? chosen.counts->ignored : kNeverLabel);
  Value result = op->getResult(0);
  b.replaceOp(op, buildCast(b, buildReshape(b, loss, shapeOf(result)), elementTypeOf(result)));
  return success();
}

// The mean over all positions.
template <typename Op> struct MeanOfChosen : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &b) const override {
    if (elementCount(op.getType()) != Polynomial(1))
      return failure();
    WholeSum sum = wholeSumOf(op->getResult(0));
    std::optional<Chosen> chosen = sum.of ? chosenIn(sum.of) : std::nullopt;
    if (!chosen || chosen->counts)
      return failure();
    Polynomial count = elementCount(chosen->labels.getType());
    double share = sum.number;
    if (count != sum.divisor) {
      if (!count.isConstant() || !sum.divisor.isConstant())
        return failure();
      share *= static_cast<double>(*count.constant());
    }
    if (!isNear(share, chosen->isNegated ? 1 : -1))
      return failure();
    return rewrite(op, *chosen, b);
  }
};

// The sum over the labels that count, divided by their number.
struct QuotientOfCounted : OpRewritePattern<DivOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DivOp op, PatternRewriter &b) const override {
    if (elementCount(op.getType()) != Polynomial(1))
      return failure();
    Value divisor = op.getRhs();
    if (auto cast = withoutUnitDims(divisor).getDefiningOp<CastOp>())
      divisor = cast.getOperand();
    WholeSum above = wholeSumOf(op.getLhs()), below = wholeSumOf(divisor);
    std::optional<Counts> counts = below.of && below.number == 1 && below.divisor == Polynomial(1)
                                       ? countsOf(below.of)
                                       : std::nullopt;
    std::optional<Chosen> chosen = counts && above.of ? chosenIn(above.of) : std::nullopt;
    if (!chosen || !chosen->counts || counts->labels != chosen->labels ||
        counts->ignored != chosen->counts->ignored || chosen->counts->labels != chosen->labels ||
        above.divisor != Polynomial(1) || above.number != (chosen->isNegated ? 1 : -1))
      return failure();
    return rewrite(op, *chosen, b);
  }
};

} // namespace

void addCrossEntropyPatterns(RewritePatternSet &patterns) {
  patterns.add<MeanOfChosen<MulOp>, MeanOfChosen<DivOp>, MeanOfChosen<NegOp>, QuotientOfCounted>(
      patterns.getContext());
}

} // namespace cleave::simplify
