// Simplification: recognises cross entropy by a log_softmax, its elements at the labels, and their
// mean. Ignored labels count neither in the sum nor in the number of elements.
#include "passes/simplify/Match.h"
#include "passes/simplify/Patterns.h"

using namespace mlir;

namespace cleave::simplify {
namespace {

using namespace graph;

// PyTorch's default ignore_index, which is not the number of a class.
constexpr int64_t kNeverLabel = -100;

// The sum of all elements of `of`, times a number.
struct WholeSum {
  Value of;
  double number = 0;
};
WholeSum wholeSumOf(Value value) {
  Product product = productOf(value);
  auto reduce = product.factors.size() == 1
                    ? withoutUnitDims(product.factors[0]).getDefiningOp<ReduceOp>()
                    : ReduceOp();
  if (!reduce || reduce.getKind() != Reduction::Sum ||
      static_cast<int64_t>(reduce.getDims().size()) != rankOf(reduce.getOperand()))
    return {};
  return {reduce.getOperand(), product.number};
}

// The same elements in the same order.
Value withoutReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getOperand();
  return value;
}

// The mask of labels that count: labels != ignored, as numbers or booleans.
struct Counts {
  Value labels;
  int64_t ignored = kNeverLabel;
};
std::optional<Counts> countsOf(Value value) {
  value = withoutReshapes(value);
  if (auto cast = value.getDefiningOp<CastOp>())
    value = withoutReshapes(cast.getOperand());
  auto compare = value.getDefiningOp<CompareOp>();
  std::optional<double> ignored = compare ? splatValue(compare.getRhs()) : std::nullopt;
  if (!ignored || compare.getPredicate() != Predicate::NE ||
      !isa<IntegerType>(elementTypeOf(compare.getLhs())))
    return std::nullopt;
  return Counts{withoutReshapes(compare.getLhs()), static_cast<int64_t>(*ignored)};
}

// The log_softmax at the labels, and the mask of those that count.
struct Chosen {
  GatherOp gather;
  Value labels;
  bool isNegated = false;
  std::optional<Counts> counts;
};

// Matches a factor or a select that masks ignored labels.
bool takeCounts(Value &value, Chosen &chosen) {
  if (auto select = value.getDefiningOp<SelectOp>()) {
    chosen.counts =
        isSplatOf(select.getOnFalse(), 0) ? countsOf(select.getCondition()) : std::nullopt;
    value = select.getOnTrue();
    return chosen.counts.has_value();
  }
  auto mul = value.getDefiningOp<MulOp>();
  for (int i : {0, 1})
    if (std::optional<Counts> counts = mul ? countsOf(mul->getOperand(i)) : std::nullopt) {
      chosen.counts = counts;
      value = mul->getOperand(1 - i);
      return true;
    }
  return false;
}

std::optional<Chosen> chosenIn(Value value) {
  constexpr int kMaxSteps = 8;
  Chosen chosen;
  for (int step = 0; step < kMaxSteps; ++step) {
    value = withoutReshapes(value);
    if (auto neg = value.getDefiningOp<NegOp>()) {
      chosen.isNegated = !chosen.isNegated;
      value = neg.getOperand();
    } else if (auto gather = value.getDefiningOp<GatherOp>()) {
      chosen.gather = gather;
      break;
    } else if (chosen.counts || !takeCounts(value, chosen)) {
      return std::nullopt;
    }
  }
  int64_t last = chosen.gather ? rankOf(chosen.gather.getOperand()) - 1 : 0;
  if (!chosen.gather || last < 1 || static_cast<int64_t>(chosen.gather.getDim()) != last ||
      static_cast<int64_t>(chosen.gather.getBatch()) != last ||
      shapeOf(chosen.gather.getIndices()).back() != Polynomial(1))
    return std::nullopt;
  chosen.labels = withoutReshapes(chosen.gather.getIndices());
  // Exporters may replace an ignored label by a valid one before the gather.
  auto select = chosen.labels.getDefiningOp<SelectOp>();
  if (select && chosen.counts && splatValue(select.getOnFalse()))
    if (std::optional<Counts> kept = countsOf(select.getCondition());
        kept && kept->labels == chosen.counts->labels && kept->ignored == chosen.counts->ignored)
      chosen.labels = withoutReshapes(select.getOnTrue());
  return chosen;
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
  Moved moved = behindMoves(chosen.gather.getOperand());
  LogSoftmaxOp softmax = logSoftmaxBehind(moved);
  if (!softmax)
    return failure();
  Value logits = moveAlike(b, softmax.getOperand(), moved.moves);
  Shape positions = shapeOf(logits);
  positions.pop_back();
  Value labels = chosen.gather.getIndices();
  if (withoutReshapes(labels) != chosen.labels) // with ignored ones replaced
    labels = withoutReshapes(labels).getDefiningOp<SelectOp>().getOnTrue();
  labels = buildReshape(b, labels, positions);
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
    std::optional<int64_t> count =
        sum.of ? elementCount(sum.of.getType()).constant() : std::nullopt;
    std::optional<Chosen> chosen = count ? chosenIn(sum.of) : std::nullopt;
    if (!chosen || chosen->counts ||
        !isNear(sum.number * static_cast<double>(*count), chosen->isNegated ? 1 : -1))
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
    std::optional<Counts> counts =
        below.of && below.number == 1 ? countsOf(below.of) : std::nullopt;
    std::optional<Chosen> chosen = counts && above.of ? chosenIn(above.of) : std::nullopt;
    if (!chosen || !chosen->counts || counts->labels != chosen->labels ||
        counts->ignored != chosen->counts->ignored || chosen->counts->labels != chosen->labels ||
        above.number != (chosen->isNegated ? 1 : -1))
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
