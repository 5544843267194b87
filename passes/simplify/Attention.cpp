// Simplification: recognises attention by its two products and the ops between them.
// AttentionParts.cpp then adds masks, scales and shared heads one by one.
#include "passes/simplify/Match.h"
#include "passes/simplify/Patterns.h"

#include <limits>

using namespace mlir;

namespace cleave::simplify {
namespace {

using namespace graph;

constexpr int kMaxMaskSteps = 16; // ops between the two products
constexpr int kMaxMaskDepth = 8;  // of the search for the side of a sum that has the product

// The ops between the product of queries and keys and the softmax.
struct Scores {
  DotGeneralOp dot;
  Shape shape; // the one with most dims on the way
  double scale = 1;
  SmallVector<Value> biases;
  SmallVector<std::pair<Value, bool>> masks; // and whether they say where scores do not count
  std::optional<double> fill;
};

// Whether a reshape keeps the last two dims, so that it only merges or splits dims of batch and
// heads.
bool keepsLastTwo(ReshapeOp op) {
  Shape from = shapeOf(op.getOperand()), to = shapeOf(op.getResult());
  return from.size() >= 3 && to.size() >= 3 && std::equal(from.end() - 2, from.end(), to.end() - 2);
}

// The operand of a cast between floats or of a reshape of batch dims; null for other values.
Value behindForm(Value value) {
  if (auto cast = value.getDefiningOp<CastOp>())
    return isa<FloatType>(elementTypeOf(cast.getOperand())) ? cast.getOperand() : Value();
  auto reshape = value.getDefiningOp<ReshapeOp>();
  return reshape && keepsLastTwo(reshape) ? reshape.getOperand() : Value();
}

// The tensor that is multiplied or divided by a known number, and the factor.
std::pair<Value, double> behindFactor(Value value) {
  if (auto mul = value.getDefiningOp<MulOp>())
    for (auto [tensor, factor] :
         {std::pair(mul.getLhs(), mul.getRhs()), std::pair(mul.getRhs(), mul.getLhs())})
      if (std::optional<double> number = splatValue(factor))
        return {tensor, *number};
  if (auto div = value.getDefiningOp<DivOp>())
    if (std::optional<double> number = splatValue(div.getRhs()))
      return {div.getLhs(), 1 / *number};
  return {};
}

// One operand of a product of matrices, and its dims: batch dims, one contracting dim, and the
// other ones in their order.
struct ScoreSide {
  Value value;
  ArrayRef<int64_t> batch;
  int64_t contracting;
  SmallVector<int64_t> free;
};

ScoreSide sideOf(DotGeneralOp dot, bool left) {
  ScoreSide side{left ? dot.getLhs() : dot.getRhs(),
                 left ? dot.getLhsBatch() : dot.getRhsBatch(),
                 left ? dot.getLhsContracting()[0] : dot.getRhsContracting()[0],
                 {}};
  for (int64_t dim = 0; dim < rankOf(side.value); ++dim)
    if (dim != side.contracting && !llvm::is_contained(side.batch, dim))
      side.free.push_back(dim);
  return side;
}

// A product of matrices, queries and keys or weights and values: one contracting dim, and one free
// dim on each side. On the side of queries and weights, there may be a dim of heads before it: all
// of them read the same keys and values.
bool isProduct(DotGeneralOp dot, bool rowsOnLeft) {
  if (dot.getLhsBatch().empty() || dot.getLhsContracting().size() != 1)
    return false;
  ScoreSide rows = sideOf(dot, rowsOnLeft), columns = sideOf(dot, !rowsOnLeft);
  bool hasHeads = rows.free.size() == 2;
  return columns.free.size() == 1 && (rows.free.size() == 1 || hasHeads) &&
         (!hasHeads || shapeOf(rows.value)[rows.free[0]].isConstant());
}
bool isScoreProduct(DotGeneralOp dot) { return isProduct(dot, /*rowsOnLeft=*/true); }

bool leadsToProduct(Value value, int depth) {
  if (auto dot = value.getDefiningOp<DotGeneralOp>())
    return isScoreProduct(dot);
  if (depth == 0)
    return false;
  if (Value behind = behindForm(value))
    return leadsToProduct(behind, depth - 1);
  if (Value behind = behindFactor(value).first)
    return leadsToProduct(behind, depth - 1);
  if (auto add = value.getDefiningOp<AddOp>())
    return leadsToProduct(add.getLhs(), depth - 1) || leadsToProduct(add.getRhs(), depth - 1);
  if (auto select = value.getDefiningOp<SelectOp>())
    return leadsToProduct(select.getOnTrue(), depth - 1) ||
           leadsToProduct(select.getOnFalse(), depth - 1);
  return false;
}

// Matches a select that replaces scores where a condition does not hold. Returns the scores before
// it, or null.
Value takeMask(SelectOp op, Scores &scores) {
  std::optional<double> onFalse = splatValue(op.getOnFalse()), onTrue = splatValue(op.getOnTrue());
  std::optional<double> number = onFalse ? onFalse : onTrue;
  if (!number)
    return nullptr;
  double fill = *number * scores.scale; // after the factors between it and the softmax
  // A term that is added later would change any number but minus infinity.
  bool isPlain = scores.biases.empty() || std::isinf(fill);
  if (!isPlain || !(fill < std::numeric_limits<double>::infinity()) ||
      (scores.fill && *scores.fill != fill))
    return nullptr;
  scores.fill = fill;
  scores.masks.push_back({op.getCondition(), !onFalse});
  return onFalse ? op.getOnTrue() : op.getOnFalse();
}

// Goes from the softmax's operand back to the product and collects the ops on the way.
bool collect(Value value, Scores &scores) {
  scores.shape = shapeOf(value);
  for (int step = 0; step < kMaxMaskSteps && value; ++step) {
    if (shapeOf(value).size() > scores.shape.size())
      scores.shape = shapeOf(value);
    if (auto dot = value.getDefiningOp<DotGeneralOp>()) {
      scores.dot = dot;
      return isScoreProduct(dot);
    }
    auto [scaled, factor] = behindFactor(value);
    auto add = value.getDefiningOp<AddOp>();
    auto select = value.getDefiningOp<SelectOp>();
    if (Value behind = behindForm(value)) {
      value = behind;
    } else if (scaled) {
      scores.scale *= factor;
      value = scaled;
    } else if (add && scores.scale == 1) {
      bool isLeft = leadsToProduct(add.getLhs(), kMaxMaskDepth);
      scores.biases.push_back(isLeft ? add.getRhs() : add.getLhs());
      value = isLeft ? add.getLhs() : add.getRhs();
    } else if (select) {
      value = takeMask(select, scores);
    } else {
      return false;
    }
  }
  return false;
}

// A tensor with its dims in this order, of which all but the last two become the scores' dims of
// batch and heads; heads that are shared become one.
Value arranged(OpBuilder &b, Value value, ArrayRef<int64_t> order, bool isShared,
               const Shape &scores) {
  Value moved = buildTranspose(b, value, order);
  Shape shape(scores.begin(), scores.end() - 2), from = shapeOf(moved);
  if (isShared)
    shape.back() = 1;
  shape.insert(shape.end(), from.end() - 2, from.end());
  return buildReshape(b, moved, shape);
}

SmallVector<int64_t> concatenated(ArrayRef<int64_t> x, ArrayRef<int64_t> y, ArrayRef<int64_t> z) {
  SmallVector<int64_t> all(x);
  llvm::append_range(all, y);
  llvm::append_range(all, z);
  return all;
}

// The sum of the terms that are added to the scores, in float32 or wider; null if there are none.
Value biasOf(OpBuilder &b, const Scores &scores, Type element) {
  Type wide = element.getIntOrFloatBitWidth() < 32 ? Type(b.getF32Type()) : element;
  Value sum;
  for (Value value : scores.biases) {
    Value bias = buildCast(b, buildReshape(b, value, scores.shape), wide);
    sum = sum ? Value(AddOp::create(b, value.getLoc(), sum, bias)) : bias;
  }
  return sum;
}

// The mask of the scores that count; null if all of them do.
Value maskOf(OpBuilder &b, const Scores &scores) {
  Value all;
  for (auto [value, isOpposite] : scores.masks) {
    Value mask = buildReshape(b, value, scores.shape);
    if (isOpposite)
      mask = NotOp::create(b, value.getLoc(), mask);
    all = all ? Value(AndOp::create(b, value.getLoc(), all, mask)) : mask;
  }
  return all;
}

// Whether a condition is true where a whole row of these scores is minus infinity: all(s == -inf),
// or not any(not (s == -inf)), with booleans as such or as integers.
bool saysNothingCounts(Value condition, Value scores) {
  bool negated = false, reduced = false;
  for (int step = 0; step < kMaxMaskSteps; ++step) {
    condition = withoutUnitDims(condition);
    Operation *op = condition.getDefiningOp();
    auto compare = dyn_cast_or_null<CompareOp>(op);
    auto reduce = dyn_cast_or_null<ReduceOp>(op);
    bool isEqual = compare && compare.getPredicate() == Predicate::EQ;
    if (compare && compare.getLhs() == scores)
      return reduced && isEqual && !negated &&
             splatValue(compare.getRhs()) == -std::numeric_limits<double>::infinity();
    if (compare && (isEqual || compare.getPredicate() == Predicate::NE) &&
        isa<IntegerType>(elementTypeOf(compare.getLhs())) && splatValue(compare.getRhs()) == 0) {
      negated ^= isEqual;
    } else if (reduce && !reduced &&
               reduce.getDims() == ArrayRef<int64_t>{rankOf(reduce.getOperand()) - 1} &&
               reduce.getKind() == (negated ? Reduction::Max : Reduction::Min)) {
      reduced = true; // not any(p) is all(not p)
    } else if (isa_and_nonnull<NotOp>(op)) {
      negated = !negated;
    } else if (!isa_and_nonnull<CastOp, BroadcastOp>(op)) {
      return false;
    }
    condition = op->getOperand(0);
  }
  return false;
}

// The weights before a select that replaces NaN by zero; null for other values.
Value behindSafety(SelectOp select) {
  Value weights = select.getOnFalse();
  auto compare = select.getCondition().getDefiningOp<CompareOp>();
  auto softmax = weights.getDefiningOp<SoftmaxOp>();
  bool isNaN = compare && compare.getPredicate() == Predicate::NE &&
               compare.getLhs() == compare.getRhs() && compare.getLhs() == weights;
  if (!isSplatOf(select.getOnTrue(), 0) ||
      !(isNaN || (softmax && saysNothingCounts(select.getCondition(), softmax.getOperand()))))
    return nullptr;
  return weights;
}

// The ops between the softmax and the product with the values.
struct Weights {
  SoftmaxOp softmax; // over the last dim; null if there is none
  bool safe = false; // what is no number is replaced by zero
  DropoutOp dropout;
};

Weights weightsOf(Value value) {
  Weights weights;
  bool isOnlyUse = true; // two draws of one dropout, here and for others, would differ
  for (int step = 0; step < kMaxMaskSteps && value; ++step) {
    isOnlyUse &= value.hasOneUse();
    if (auto softmax = value.getDefiningOp<SoftmaxOp>()) {
      if (static_cast<int64_t>(softmax.getDim()) + 1 == rankOf(softmax))
        weights.softmax = softmax;
      return weights;
    }
    auto dropout = value.getDefiningOp<DropoutOp>();
    if (dropout && (weights.dropout || !(isOnlyUse || dropout.getSeed())))
      return {};
    auto select = value.getDefiningOp<SelectOp>();
    Value unsafe = select ? behindSafety(select) : Value();
    weights.safe |= bool(unsafe);
    if (dropout)
      weights.dropout = dropout;
    value = dropout ? dropout.getOperand() : unsafe ? unsafe : behindForm(value);
  }
  return {};
}

// The product of weights and values.
struct Outer {
  DotGeneralOp dot;
  bool weightsOnLeft;
  ScoreSide weights, values;
  Outer(DotGeneralOp dot, bool weightsOnLeft)
      : dot(dot), weightsOnLeft(weightsOnLeft), weights(sideOf(dot, weightsOnLeft)),
        values(sideOf(dot, !weightsOnLeft)) {}

  int64_t rank() const { return rankOf(weights.value); }
  // Whether a query's weights lie in the last dim, behind those of heads and queries.
  bool isInOrder() const {
    auto others = llvm::seq(rank() - 1 - static_cast<int64_t>(weights.free.size()), rank() - 1);
    return weights.contracting == rank() - 1 && llvm::equal(weights.free, others);
  }
};

// Matches softmax(scores) v, with the softmax over the contracting dim of the product.
struct RecogniseAttention : OpRewritePattern<DotGeneralOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DotGeneralOp op, PatternRewriter &rewriter) const override {
    for (bool left : {true, false}) {
      if (!isProduct(op, left))
        continue;
      Outer outer(op, left);
      Weights weights = outer.isInOrder() ? weightsOf(outer.weights.value) : Weights();
      Scores scores;
      if (weights.softmax && leadsToProduct(weights.softmax.getOperand(), kMaxMaskDepth) &&
          collect(weights.softmax.getOperand(), scores) &&
          elementTypeOf(scores.dot.getLhs()) == elementTypeOf(outer.values.value) &&
          sharesHeads(outer, scores)) {
        if (outer.rank() > static_cast<int64_t>(scores.shape.size()))
          scores.shape = shapeOf(outer.weights.value);
        rewrite(outer, scores, weights, rewriter);
        return success();
      }
    }
    return failure();
  }

  // Whether both products have the same dim of heads that share keys and values, or none.
  static bool sharesHeads(Outer &outer, Scores &scores) {
    bool isShared = outer.weights.free.size() == 2;
    if (isShared != (sideOf(scores.dot, true).free.size() == 2))
      return false;
    return !isShared || (outer.rank() == rankOf(scores.dot) &&
                         outer.rank() == static_cast<int64_t>(scores.shape.size()));
  }

  static void rewrite(Outer &outer, Scores &scores, Weights weights, PatternRewriter &b) {
    ScoreSide queries = sideOf(scores.dot, true), keys = sideOf(scores.dot, false);
    bool isShared = queries.free.size() == 2;
    Value query =
        arranged(b, queries.value, concatenated(queries.batch, queries.free, {queries.contracting}),
                 /*isShared=*/false, scores.shape);
    Value key = arranged(b, keys.value, concatenated(keys.batch, keys.free, {keys.contracting}),
                         isShared, scores.shape);
    // The values' batch dims in the order of the weights' dims.
    SmallVector<int64_t> batch(outer.weights.batch.size()), toResult;
    for (auto [ofWeights, ofValues] : llvm::zip(outer.weights.batch, outer.values.batch)) {
      batch[ofWeights] = ofValues;
      toResult.push_back(ofWeights);
    }
    Value value = arranged(b, outer.values.value,
                           concatenated(batch, {outer.values.contracting}, outer.values.free),
                           isShared, scores.shape);
    Value bias = biasOf(b, scores, elementTypeOf(query)), mask = maskOf(b, scores);
    FloatAttr fill =
        scores.fill && !std::isinf(*scores.fill) ? b.getF64FloatAttr(*scores.fill) : FloatAttr();
    DropoutOp dropout = weights.dropout;
    auto attention = AttentionOp::create(
        b, outer.dot.getLoc(), query, key, value, bias, mask, dropout ? dropout.getSeed() : Value(),
        b.getF64FloatAttr(scores.scale), UnitAttr(), weights.safe ? b.getUnitAttr() : UnitAttr(),
        fill, dropout ? dropout.getRateAttr() : FloatAttr());
    Value result = attention.getResult();
    // Restores the product's batch dims and order.
    Shape shape = shapeOf(outer.weights.value);
    shape.back() = shapeOf(value).back();
    result = buildReshape(b, result, shape);
    SmallVector<int64_t> rows(outer.weights.free), columns = {outer.rank() - 1};
    toResult = outer.weightsOnLeft ? concatenated(toResult, rows, columns)
                                   : concatenated(toResult, columns, rows);
    b.replaceOp(outer.dot, buildTranspose(b, result, toResult));
  }
};

} // namespace

void addAttentionPatterns(RewritePatternSet &patterns) {
  patterns.add<RecogniseAttention>(patterns.getContext());
  addAttentionPartPatterns(patterns);
}

} // namespace cleave::simplify
