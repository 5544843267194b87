// Attention: attention and rotary, as plain loops (evaluation) and as simpler ops (decomposition).
#include "dialects/graph/Attention.h"

#include "dialects/graph/Pointwise.h"
#include "dialects/graph/Random.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace cleave::graph {

// -- shapes ---------------------------------------------------------------------------------------

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  Shape shape = shapeOf(adaptor.getQuery());
  shape.back() = shapeOf(adaptor.getValue()).back();
  types.push_back(tensorOf(shape, elementTypeOf(adaptor.getValue())));
  return success();
}

static Shape scoreShape(AttentionOp op) {
  Shape shape = shapeOf(op.getQuery()), key = shapeOf(op.getKey());
  shape.back() = key[key.size() - 2];
  return shape;
}

LogicalResult AttentionOp::verify() {
  Shape q = shapeOf(getQuery()), k = shapeOf(getKey()), v = shapeOf(getValue());
  size_t rank = q.size();
  if (rank < 3 || k.size() != rank || v.size() != rank) {
    auto diag = emitOpError() << "needs query, key and value of one rank of at least 3";
    diag.attachNote(getQuery().getLoc()) << "the query has type " << getQuery().getType();
    diag.attachNote(getKey().getLoc()) << "the key has type " << getKey().getType();
    diag.attachNote(getValue().getLoc()) << "the value has type " << getValue().getType();
    return diag;
  }
  bool fits = std::equal(k.begin(), k.end() - 1, v.begin()) && q.back() == k.back() &&
              std::equal(q.begin(), q.end() - 3, k.begin());
  if (!fits || elementTypeOf(getQuery()) != elementTypeOf(getKey()) ||
      elementTypeOf(getQuery()) != elementTypeOf(getValue())) {
    auto diag = emitOpError() << "needs key and value that fit the query, found "
                              << getKey().getType() << " and " << getValue().getType() << " for "
                              << getQuery().getType();
    diag.attachNote(getQuery().getLoc()) << "the query comes from here";
    diag.attachNote(getKey().getLoc()) << "the key comes from here";
    diag.attachNote(getValue().getLoc()) << "the value comes from here";
    return diag;
  }
  std::optional<int64_t> heads = q[rank - 3].constant(), groups = k[rank - 3].constant();
  if (q[rank - 3] != k[rank - 3] && (!heads || !groups || *groups <= 0 || *heads % *groups != 0)) {
    auto diag = emitOpError() << "needs heads that are a multiple of the key's, found "
                              << q[rank - 3].str() << " and " << k[rank - 3].str();
    diag.attachNote(getKey().getLoc()) << "the key has type " << getKey().getType();
    return diag;
  }
  for (Value scores : {getBias(), getMask()})
    if (scores && shapeOf(scores) != scoreShape(*this)) {
      auto diag = emitOpError() << "needs a bias and a mask of the scores' shape, found "
                                << scores.getType();
      diag.attachNote(scores.getLoc())
          << "expected " << tensorOf(scoreShape(*this), elementTypeOf(scores));
      return diag;
    }
  if (getSeed() && !getDropout()) {
    auto diag = emitOpError() << "needs a rate of dropout for its seed";
    diag.attachNote(getSeed().getLoc()) << "the seed comes from here";
    return diag;
  }
  return success();
}

int64_t AttentionOp::headsPerGroup() {
  Shape q = shapeOf(getQuery()), k = shapeOf(getKey());
  const Polynomial &heads = q[q.size() - 3], &groups = k[k.size() - 3];
  return heads == groups ? 1 : *heads.constant() / *groups.constant();
}

double AttentionOp::fillValue() {
  std::optional<APFloat> fill = getFill();
  return fill ? fill->convertToDouble() : -std::numeric_limits<double>::infinity();
}

double AttentionOp::getDropRate() { return getDropout() ? getDropout()->convertToDouble() : 0; }
void AttentionOp::getEffects(MemoryEffectList &effects) { addDropoutEffects(*this, effects); }

LogicalResult RotaryOp::verify() {
  Shape shape = shapeOf(getOperand());
  std::optional<int64_t> width = shape.empty() ? std::nullopt : shape.back().constant();
  if (!width || *width % 2 != 0) {
    auto diag = emitOpError() << "needs an even last dim, found " << getOperand().getType();
    diag.attachNote(getOperand().getLoc()) << "the operand comes from here";
    return diag;
  }
  return success();
}

// -- rules ----------------------------------------------------------------------------------------

// "a… (h g) s d, a… h t d, a… h t e, a… (h g) s t -> a… (h g) s e"
FactorRule AttentionOp::getFactorRule() {
  FactorRule rule;
  Shape q = shapeOf(getQuery()), k = shapeOf(getKey()), v = shapeOf(getValue());
  size_t rank = q.size();
  auto factor = [&](const Polynomial &size, bool whole) {
    rule.factors.push_back({size, whole ? FactorKind::Replicated : FactorKind::PassThrough});
    return static_cast<int>(rule.factors.size()) - 1;
  };
  FactorRule::Dims query, key;
  bool drops = bool(getSeed()); // dropout depends on positions in the whole tensor of weights
  for (size_t d = 0; d + 2 < rank; ++d) {
    key.push_back({factor(k[d], drops)});
    query.push_back(key.back());
  }
  if (int64_t heads = headsPerGroup(); heads > 1)
    query.back().push_back(factor(Polynomial(heads), drops));
  // A causal mask compares positions in the whole sequence.
  int queries = factor(q[rank - 2], getCausal() || drops), keys = factor(k[rank - 2], true);
  int width = factor(q[rank - 1], true), depth = factor(v[rank - 1], false);
  auto with = [](FactorRule::Dims dims, int row, int column) {
    dims.push_back({row});
    dims.push_back({column});
    return dims;
  };
  rule.operands = {with(query, queries, width), with(key, keys, width), with(key, keys, depth)};
  for (Value scores : {getBias(), getMask()})
    if (scores)
      rule.operands.push_back(with(query, queries, keys));
  if (drops)
    rule.operands.emplace_back();
  rule.results = {with(query, queries, depth)};
  return rule;
}

Polynomial AttentionOp::getFlops() {
  Polynomial scores(1);
  for (const Polynomial &dim : scoreShape(*this))
    scores *= dim;
  Polynomial products = shapeOf(getQuery()).back() + shapeOf(getValue()).back();
  return scores *
         (Polynomial(2) * products + Polynomial(6 + (getBias() ? 1 : 0) + (getDropout() ? 2 : 0)));
}

FactorRule RotaryOp::getFactorRule() {
  FactorRule rule = pointwiseRule(*this);
  rule.factors.back().kind = FactorKind::Replicated;
  return rule;
}
Polynomial RotaryOp::getFlops() { return elementCount(getType()) * Polynomial(3); }

// -- plain loops ----------------------------------------------------------------------------------

namespace {
// The scores of one query for all keys, and its weights.
struct Row {
  std::vector<double> values;

  void toWeights(bool safe) {
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (double value : values)
      largest = maximum(largest, value);
    for (double &value : values)
      sum += value = std::exp(value - largest);
    for (double &value : values)
      value = safe && std::isnan(value / sum) ? 0 : value / sum;
  }

  // Applies dropout. `first` is the position of the first weight among the weights of all queries.
  void drop(double rate, double seed, int64_t first) {
    for (size_t t = 0; t < values.size(); ++t)
      values[t] *= dropFactor(rate, seed, first + static_cast<int64_t>(t));
  }
};
} // namespace

SmallVector<Tensor> AttentionOp::evaluate(ArrayRef<Tensor> operands) {
  const Tensor &q = operands[0], &k = operands[1], &v = operands[2];
  const Tensor *bias = getBias() ? &operands[3] : nullptr,
               *mask = getMask() ? &operands[getBias() ? 4 : 3] : nullptr;
  int64_t rank = q.rank(), width = q.shape[rank - 1], depth = v.shape[rank - 1];
  int64_t queries = q.shape[rank - 2], keys = k.shape[rank - 2], perGroup = headsPerGroup();
  double scale = getScale().convertToDouble(), fill = fillValue();
  std::vector<int64_t> shape = q.shape;
  shape.back() = depth;
  Tensor result(v.type, shape);
  int64_t rows = width ? q.size() / width : 0;
  Row row{std::vector<double>(keys)};
  for (int64_t r = 0; r < rows; ++r) {
    int64_t query = r % queries, group = r / queries / perGroup;
    for (int64_t t = 0; t < keys; ++t) {
      double score = 0;
      for (int64_t d = 0; d < width; ++d)
        score += q.values[r * width + d] * k.values[(group * keys + t) * width + d];
      score = scale * score + (bias ? bias->values[r * keys + t] : 0);
      bool counts = (!mask || mask->values[r * keys + t] != 0) && (!getCausal() || t <= query);
      row.values[t] = counts ? score : fill;
    }
    row.toWeights(getSafe());
    if (getSeed())
      row.drop(getDropRate(), operands.back().values[0], r * keys);
    for (int64_t e = 0; e < depth; ++e) {
      double sum = 0;
      for (int64_t t = 0; t < keys; ++t)
        sum += row.values[t] * v.values[(group * keys + t) * depth + e];
      result.set(r * depth + e, sum);
    }
  }
  return {result};
}

SmallVector<Tensor> RotaryOp::evaluate(ArrayRef<Tensor> operands) {
  const Tensor &x = operands[0], &cos = operands[1], &sin = operands[2];
  Tensor result(x.type, x.shape);
  int64_t width = x.shape.back(), half = width / 2;
  for (int64_t i = 0; i < x.size(); ++i) {
    int64_t d = i % width;
    bool isFirst = getInterleaved() ? d % 2 == 0 : d < half;
    int64_t distance = getInterleaved() ? 1 : half;
    double other = isFirst ? -x.values[i + distance] : x.values[i - distance];
    result.set(i, x.values[i] * cos.values[i] + other * sin.values[i]);
  }
  return {result};
}

// -- simpler ops ----------------------------------------------------------------------------------

// x [batch…, heads, m, n] as [batch…, groups, heads / groups, m, n].
static Value buildGrouped(OpBuilder &b, Value x, const Polynomial &groups) {
  Shape shape = shapeOf(x);
  size_t heads = shape.size() - 3;
  if (shape[heads] == groups)
    return x;
  int64_t perGroup = *shape[heads].constant() / *groups.constant();
  shape[heads] = groups;
  shape.insert(shape.begin() + heads + 1, Polynomial(perGroup));
  return buildReshape(b, x, shape);
}

static SmallVector<int64_t> batchDims(Value x) {
  return llvm::to_vector(llvm::seq<int64_t>(0, rankOf(x) - 2));
}

Value buildGroupedDot(OpBuilder &b, Value lhs, Value rhs, int64_t contracting) {
  Shape shape = shapeOf(lhs), other = shapeOf(rhs);
  shape.back() = other[other.size() - (contracting == 1 ? 2 : 1)];
  Value grouped = buildGrouped(b, lhs, other[other.size() - 3]);
  SmallVector<int64_t> batch = batchDims(rhs);
  Value dot = DotGeneralOp::create(b, lhs.getLoc(), grouped, rhs, batch, batch,
                                   ArrayRef<int64_t>{rankOf(grouped) - 1},
                                   ArrayRef<int64_t>{rankOf(rhs) - contracting});
  return buildReshape(b, dot, shape);
}

Value buildGroupSum(OpBuilder &b, Value lhs, Value rhs, const Polynomial &groups) {
  SmallVector<int64_t> batch = batchDims(lhs);
  Value left = buildGrouped(b, lhs, groups), right = buildGrouped(b, rhs, groups);
  SmallVector<int64_t> contracting; // the heads of a group, and m
  for (int64_t d = static_cast<int64_t>(batch.size()); d + 1 < rankOf(left); ++d)
    contracting.push_back(d);
  return DotGeneralOp::create(b, lhs.getLoc(), left, right, batch, batch, contracting, contracting);
}

// A mask of this shape that is true where key <= query.
static Value buildCausal(OpBuilder &b, Location loc, const Shape &scores) {
  Shape square(scores.end() - 2, scores.end());
  Type type = tensorOf(square, b.getI64Type());
  Value query = IotaOp::create(b, loc, type, 0), key = IotaOp::create(b, loc, type, 1);
  Value allowed = CompareOp::create(b, loc, Predicate::LE, key, query);
  return buildBroadcast(b, loc, allowed, scores);
}

Value buildAttentionWeights(OpBuilder &b, AttentionOp op) {
  Location loc = op.getLoc();
  Type element = elementTypeOf(op.getValue());
  Type wide = element.getIntOrFloatBitWidth() < 32 ? Type(b.getF32Type()) : element;
  Value scores = buildCast(b, buildGroupedDot(b, op.getQuery(), op.getKey(), 1), wide);
  double scale = op.getScale().convertToDouble();
  if (scale != 1)
    scores = MulOp::create(b, loc, scores, buildSplatLike(b, scores, scale));
  if (op.getBias())
    scores = AddOp::create(b, loc, scores, buildCast(b, op.getBias(), wide));
  Value counts = op.getMask();
  if (op.getCausal()) {
    Value causal = buildCausal(b, loc, shapeOf(scores));
    counts = counts ? Value(AndOp::create(b, loc, counts, causal)) : causal;
  }
  if (counts)
    scores = SelectOp::create(b, loc, counts, scores, buildSplatLike(b, scores, op.fillValue()));
  Value weights = SoftmaxOp::create(b, loc, scores, rankOf(scores) - 1);
  if (op.getSafe()) {
    Value isNan = CompareOp::create(b, loc, Predicate::NE, weights, weights);
    weights = SelectOp::create(b, loc, isNan, buildSplatLike(b, weights, 0), weights);
  }
  return buildCast(b, weights, element);
}

Value buildDropped(OpBuilder &b, AttentionOp op, Value weights) {
  if (!op.getSeed())
    return weights;
  return DropoutOp::create(b, op.getLoc(), weights.getType(), weights, op.getSeed(),
                           op.getDropoutAttr());
}

SmallVector<Value> AttentionOp::decompose(OpBuilder &b) {
  Value weights = buildDropped(b, *this, buildAttentionWeights(b, *this));
  return {buildGroupedDot(b, weights, getValue(), 2)};
}

Value buildRotated(OpBuilder &b, Value x, bool interleaved) {
  Location loc = x.getLoc();
  Shape shape = shapeOf(x), pairs = shape;
  int64_t width = *shape.back().constant(), dim = rankOf(x) - 1;
  if (interleaved) {
    pairs.back() = Polynomial(width / 2);
    pairs.push_back(Polynomial(2));
    x = buildReshape(b, x, pairs);
    width = 2;
    dim += 1;
  }
  Shape half = pairs;
  half.back() = Polynomial(width / 2);
  Type type = tensorOf(half, elementTypeOf(x));
  Value first = SliceOp::create(b, loc, type, x, dim, 0, 1);
  Value second = SliceOp::create(b, loc, type, x, dim, width / 2, 1);
  Value turned = ConcatOp::create(b, loc, ValueRange{NegOp::create(b, loc, second), first}, dim);
  return buildReshape(b, turned, shape);
}

SmallVector<Value> RotaryOp::decompose(OpBuilder &b) {
  Value turned = buildRotated(b, getOperand(), getInterleaved());
  Value kept = MulOp::create(b, getLoc(), getOperand(), getCos());
  return {AddOp::create(b, getLoc(), kept, MulOp::create(b, getLoc(), turned, getSin()))};
}

} // namespace cleave::graph

#define GET_OP_CLASSES
#include "dialects/graph/Attention.cpp.inc"

void cleave::graph::GraphDialect::addAttentionOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/graph/Attention.cpp.inc"
      >();
}
