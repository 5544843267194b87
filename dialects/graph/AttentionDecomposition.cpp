// Attention as simpler ops: the decompositions of graph.attention and graph.attention_grad. They
// store scores and weights; where programs have no kernel for the whole op, they are what runs.
#include "dialects/graph/Attention.h"

#include "dialects/graph/Random.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace cleave::graph {
namespace {

// x [batch…, heads, m, n] as [batch…, groups, heads / groups, m, n].
Value buildGrouped(OpBuilder &b, Value x, const Polynomial &groups) {
  Shape shape = shapeOf(x);
  size_t heads = shape.size() - 3;
  if (shape[heads] == groups)
    return x;
  int64_t perGroup = *shape[heads].constant() / *groups.constant();
  shape[heads] = groups;
  shape.insert(shape.begin() + heads + 1, Polynomial(perGroup));
  return buildReshape(b, x, shape);
}

SmallVector<int64_t> batchDims(Value x) {
  return llvm::to_vector(llvm::seq<int64_t>(0, rankOf(x) - 2));
}

// The product of every head of lhs [batch…, heads, m, n] with the head of its group in rhs
// [batch…, groups, …], summed over the last dim of lhs and dim `contracting` (counted from the end:
// 1 or 2) of rhs; a result of this element type.
Value buildGroupedDot(OpBuilder &b, Type element, Value lhs, Value rhs, int64_t contracting) {
  Shape shape = shapeOf(lhs), other = shapeOf(rhs);
  shape.back() = other[other.size() - (contracting == 1 ? 2 : 1)];
  Value grouped = buildGrouped(b, lhs, other[other.size() - 3]);
  SmallVector<int64_t> batch = batchDims(rhs);
  Value dot = buildDot(b, lhs.getLoc(), element, grouped, rhs, batch, batch, {rankOf(grouped) - 1},
                       {rankOf(rhs) - contracting});
  return buildReshape(b, dot, shape);
}

// The products of lhs [batch…, heads, m, n] and rhs [batch…, heads, m, p], summed over m and over
// the heads of each of `groups` groups: [batch…, groups, n, p].
Value buildGroupSum(OpBuilder &b, Value lhs, Value rhs, const Polynomial &groups) {
  SmallVector<int64_t> batch = batchDims(lhs);
  Value left = buildGrouped(b, lhs, groups), right = buildGrouped(b, rhs, groups);
  SmallVector<int64_t> contracting; // the heads of a group, and m
  for (int64_t d = static_cast<int64_t>(batch.size()); d + 1 < rankOf(left); ++d)
    contracting.push_back(d);
  return DotGeneralOp::create(b, lhs.getLoc(), left, right, batch, batch, contracting, contracting);
}

// Builds what both decompositions need of the scores.
class ScoreBuilder {
public:
  ScoreBuilder(OpBuilder &b, const AttentionScores &of)
      : b_(b), of_(of), loc_(of.op->getLoc()), shape_(of.shape()) {}

  // Whether a key is visible to a query, of the scores' shape; null if every key is.
  Value visible() {
    Value mask = of_.mask ? buildBroadcast(b_, loc_, of_.mask, shape_) : Value();
    if (!of_.causal)
      return mask;
    Value causal = buildCausal();
    return mask ? Value(AndOp::create(b_, loc_, mask, causal)) : causal;
  }

  Value scores(Value visible) {
    Value scores = buildGroupedDot(b_, of_.wideType(), of_.query, of_.key, 1);
    if (of_.scale != 1)
      scores = MulOp::create(b_, loc_, scores, buildSplatLike(b_, scores, of_.scale));
    if (of_.bias) {
      Value bias = buildCast(b_, of_.bias, of_.wideType());
      scores = AddOp::create(b_, loc_, scores, buildBroadcast(b_, loc_, bias, shape_));
    }
    if (!visible)
      return scores;
    return SelectOp::create(b_, loc_, visible, scores, buildSplatLike(b_, scores, of_.fillValue()));
  }

  // `weights`, or their gradients, after dropout.
  Value dropped(Value weights) {
    if (!of_.drops())
      return weights;
    return buildDropped(b_, loc_, weights, of_.seed, of_.dropRate(),
                        {of_.offsets, of_.offsetDims, of_.whole});
  }

private:
  // True where the index of the key is at most that of the query.
  Value buildCausal() {
    Shape square(shape_.end() - 2, shape_.end());
    Type type = tensorOf(square, b_.getI64Type());
    Value query = IotaOp::create(b_, loc_, type, 0), key = IotaOp::create(b_, loc_, type, 1);
    if (!of_.offsetDims.empty() && of_.offsetDims.back() == static_cast<int64_t>(shape_.size()) - 2)
      query = AddOp::create(b_, loc_, query, buildBroadcast(b_, loc_, of_.offsets.back(), square));
    Value allowed = CompareOp::create(b_, loc_, Predicate::LE, key, query);
    return buildBroadcast(b_, loc_, allowed, shape_);
  }

  OpBuilder &b_;
  const AttentionScores &of_;
  Location loc_;
  Shape shape_;
};

// Whether elements are equal to `number`.
Value buildIs(OpBuilder &b, Value value, double number) {
  return CompareOp::create(b, value.getLoc(), Predicate::EQ, value,
                           buildSplatLike(b, value, number));
}

Value buildSelect(OpBuilder &b, Value condition, Value value, double number) {
  return SelectOp::create(b, value.getLoc(), condition, buildSplatLike(b, value, number), value);
}

// The log-sum-exp of scores, with its special values (Attention.td).
Value buildLse(OpBuilder &b, AttentionOp op, Value scores, Value visible) {
  Location loc = op.getLoc();
  int64_t keys = rankOf(scores) - 1;
  Value largest = buildReduce(b, Reduction::Max, scores, keys);
  Value above = SubOp::create(b, loc, scores, buildBroadcastOver(b, largest, scores, keys));
  Value sum = buildReduce(b, Reduction::Sum, ExpOp::create(b, loc, above), keys);
  Value lse = AddOp::create(b, loc, largest, LogOp::create(b, loc, sum));
  if (op.getSafe())
    lse = buildSelect(b, CompareOp::create(b, loc, Predicate::NE, lse, lse), lse, kInfinity);
  if (!visible || std::isinf(op.fillValue()))
    return lse;
  Value counted = buildCast(b, visible, elementTypeOf(scores));
  Value seesOne = buildReduce(b, Reduction::Max, counted, keys);
  return buildSelect(b, buildIs(b, seesOne, 0), lse, -kInfinity);
}

} // namespace

SmallVector<Value> AttentionOp::decompose(OpBuilder &b) {
  Location loc = getLoc();
  AttentionScores of(*this);
  ScoreBuilder builder(b, of);
  Value visible = builder.visible(), scores = builder.scores(visible);
  Value weights = SoftmaxOp::create(b, loc, scores, rankOf(scores) - 1);
  if (getSafe())
    weights =
        buildSelect(b, CompareOp::create(b, loc, Predicate::NE, weights, weights), weights, 0);
  weights = builder.dropped(buildCast(b, weights, elementTypeOf(getValue())));
  return {buildGroupedDot(b, elementTypeOf(getValue()), weights, getValue(), 2),
          buildLse(b, *this, scores, visible)};
}

// The weights of all scores, by their log-sum-exp.
static Value buildWeights(OpBuilder &b, AttentionGradOp op, Value scores) {
  int64_t keys = rankOf(scores) - 1;
  Value lse = buildBroadcastOver(b, op.getLse(), scores, keys);
  Value weights = ExpOp::create(b, op.getLoc(), SubOp::create(b, op.getLoc(), scores, lse));
  weights = buildSelect(b, buildIs(b, lse, kInfinity), weights, 0);
  if (std::isinf(op.fillValue()))
    return weights;
  Value even = buildSizeLike(b, weights, 1, shapeOf(scores).back());
  return SelectOp::create(b, op.getLoc(), buildIs(b, lse, -kInfinity), even, weights);
}

// The sum of `dScores` over the dims in which a bias of this type has size 1.
static Value buildBiasGrad(OpBuilder &b, Value dScores, Type bias) {
  Shape shape = shapeOf(bias), all = shapeOf(dScores);
  SmallVector<int64_t> repeated;
  for (int64_t d = 0; d < rankOf(dScores); ++d)
    if (shape[d] != all[d])
      repeated.push_back(d);
  if (!repeated.empty())
    dScores = buildReshape(b, buildReduce(b, Reduction::Sum, dScores, repeated), shape);
  return buildCast(b, dScores, elementTypeOf(bias));
}

SmallVector<Value> AttentionGradOp::decompose(OpBuilder &b) {
  Location loc = getLoc();
  AttentionScores of(*this);
  ScoreBuilder builder(b, of);
  Polynomial groups = shapeOf(getKey())[rankOf(getKey()) - 3];
  Type element = elementTypeOf(getValue()), wide = of.wideType();
  Value visible = builder.visible(), scores = builder.scores(visible);
  Value weights = buildWeights(b, *this, scores);
  Value dropped = builder.dropped(buildCast(b, weights, element));
  Value valueGrad = buildGroupSum(b, dropped, getGrad(), groups);
  int64_t last = rankOf(scores) - 1;
  Value delta = buildReduce(
      b, Reduction::Sum,
      MulOp::create(b, loc, buildCast(b, getGrad(), wide), buildCast(b, getResult(), wide)), last);
  Value dWeights = builder.dropped(buildGroupedDot(b, wide, getGrad(), getValue(), 1));
  Value dScores = MulOp::create(
      b, loc, weights, SubOp::create(b, loc, dWeights, buildBroadcastOver(b, delta, scores, last)));
  // With an infinite fill the weights of these scores are 0 already.
  if (visible && !std::isinf(of.fillValue()))
    dScores = SelectOp::create(b, loc, visible, dScores, buildSplatLike(b, dScores, 0));
  Value dProducts = dScores;
  if (of.scale != 1)
    dProducts = MulOp::create(b, loc, dScores, buildSplatLike(b, dScores, of.scale));
  dProducts = buildCast(b, dProducts, element);
  SmallVector<Value> grads = {buildGroupedDot(b, element, dProducts, getKey(), 2),
                              buildGroupSum(b, dProducts, getQuery(), groups), valueGrad};
  if (getBiasGrad())
    grads.push_back(buildBiasGrad(b, dScores, getBias().getType()));
  return grads;
}

} // namespace cleave::graph
