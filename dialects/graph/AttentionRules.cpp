// Attention and its gradient: factor rules, costs and partitioning.
#include "dialects/graph/Attention.h"

using namespace mlir;

namespace cleave::graph {

// -- rules ----------------------------------------------------------------------------------------

namespace {

// The factors of both ops, "a… (h g) s d, a… h t d, a… h t e -> a… (h g) s e", and the dims of
// their operands.
class AttentionRule {
public:
  explicit AttentionRule(const AttentionScores &scores) : scores_(scores) {
    Shape q = shapeOf(scores.query), k = shapeOf(scores.key), v = shapeOf(scores.value);
    size_t rank = q.size();
    for (size_t d = 0; d + 2 < rank; ++d) {
      groups_.push_back({factor(k[d])});
      heads_.push_back(groups_.back());
    }
    if (int64_t perGroup = scores.headsPerGroup(); perGroup > 1)
      heads_.back().push_back(factor(perGroup));
    queries_ = factor(q[rank - 2]);
    keys_ = factor(k[rank - 2], FactorKind::Replicated);
    width_ = factor(q[rank - 1], FactorKind::Replicated);
    depth_ = factor(v[rank - 1], FactorKind::Replicated);
  }

  FactorRule::Dims query() const { return with(heads_, {queries_, width_}); }
  FactorRule::Dims key() const { return with(groups_, {keys_, width_}); }
  FactorRule::Dims value() const { return with(groups_, {keys_, depth_}); }
  FactorRule::Dims result() const { return with(heads_, {queries_, depth_}); }
  FactorRule::Dims lse() const { return with(heads_, {queries_}); }

  // Of a bias, a mask or their gradient: a dim of size 1 has a factor of its own.
  FactorRule::Dims added(Value value) {
    FactorRule::Dims dims = with(heads_, {queries_, keys_});
    Shape shape = scores_.shape();
    for (auto [d, size] : llvm::enumerate(shapeOf(value)))
      if (size != shape[d])
        dims[d] = {factor(1, FactorKind::Replicated)};
    return dims;
  }

  // `operands` and those that both ops have after them.
  FactorRule finish(std::vector<FactorRule::Dims> operands, std::vector<FactorRule::Dims> results) {
    for (Value value : {scores_.bias, scores_.mask})
      if (value)
        operands.push_back(added(value));
    operands.resize(scores_.op->getNumOperands()); // the seed and the offsets are scalars
    rule_.operands = std::move(operands);
    rule_.results = std::move(results);
    for (size_t f = 0; f < rule_.factors.size(); ++f)
      if (rule_.factors[f].kind == FactorKind::PassThrough && !standsInAllResults(f))
        rule_.factors[f].kind = FactorKind::Reduction;
    return std::move(rule_);
  }

private:
  int factor(const Polynomial &size, FactorKind kind = FactorKind::PassThrough) {
    rule_.factors.push_back({size, kind});
    return static_cast<int>(rule_.factors.size()) - 1;
  }

  static FactorRule::Dims with(FactorRule::Dims dims, std::initializer_list<int> last) {
    for (int factor : last)
      dims.push_back({factor});
    return dims;
  }

  bool standsInAllResults(size_t factor) const {
    return llvm::all_of(rule_.results, [&](const FactorRule::Dims &dims) {
      return llvm::any_of(dims, [&](const std::vector<int> &dim) {
        return llvm::is_contained(dim, static_cast<int>(factor));
      });
    });
  }

  const AttentionScores &scores_;
  FactorRule rule_;
  FactorRule::Dims heads_, groups_; // the batch dims, and the heads of the query or of the key
  int queries_, keys_, width_, depth_;
};

} // namespace

FactorRule AttentionOp::getFactorRule() {
  AttentionScores scores(*this);
  AttentionRule rule(scores);
  return rule.finish({rule.query(), rule.key(), rule.value()}, {rule.result(), rule.lse()});
}

FactorRule AttentionGradOp::getFactorRule() {
  AttentionScores scores(*this);
  AttentionRule rule(scores);
  std::vector<FactorRule::Dims> results = {rule.query(), rule.key(), rule.value()};
  if (getBiasGrad())
    results.push_back(rule.added(getBias()));
  return rule.finish(
      {rule.query(), rule.key(), rule.value(), rule.result(), rule.lse(), rule.result()},
      std::move(results));
}

// The number of scores times `flops` of each. A causal mask leaves half of the scores to compute,
// also on average of two mirrored blocks of rows; of one block, as many as in the last one:
// q (2 k - q) / 2 of q queries and k keys, where there are fewer queries, and k (2 q - k) / 2 where
// there are fewer keys.
static Polynomial flopsOf(const AttentionScores &scores, Polynomial flops) {
  const Shape shape = scores.shape();
  for (const Polynomial &dim : shape)
    flops *= dim;
  if (!scores.causal)
    return flops;
  const std::optional<int64_t> queries = shape[shape.size() - 2].constant(),
                               keys = shape.back().constant();
  const bool isOneBlock = !scores.offsets.empty() && !scores.op->hasAttr(kMirrored);
  if (isOneBlock && queries && keys && *queries > 0 && *keys > 0) {
    const int64_t larger = std::max(*queries, *keys), smaller = std::min(*queries, *keys);
    return (flops.dividedBy(larger).value_or(flops) * Polynomial(2 * larger - smaller))
        .dividedBy(2)
        .value_or(flops);
  }
  return flops.dividedBy(2).value_or(flops);
}

// Two products; scaling, masking and the softmax.
Polynomial AttentionOp::getFlops() {
  AttentionScores scores(*this);
  Polynomial width = shapeOf(getQuery()).back(), depth = shapeOf(getValue()).back();
  int64_t others = 6 + (getBias() ? 1 : 0) + (getDropout() ? 2 : 0);
  return flopsOf(scores, Polynomial(2) * (width + depth) + Polynomial(others + others % 2));
}

// Five products: of the scores, of the gradients of the weights, and one per gradient.
Polynomial AttentionGradOp::getFlops() {
  AttentionScores scores(*this);
  Polynomial width = shapeOf(getQuery()).back(), depth = shapeOf(getValue()).back();
  int64_t others = 6 + (getBias() ? 1 : 0) + (getDropout() ? 3 : 0);
  return flopsOf(scores,
                 Polynomial(6) * width + Polynomial(4) * depth + Polynomial(others + others % 2));
}

// -- partitioning ---------------------------------------------------------------------------------

// The offset of this rank's block in a dim of the scores, whose factors are `factors`, major to
// minor. Null if the dim is not split.
static Value dimOffset(OpBuilder &b, Location loc, const FactorRule &rule,
                       const std::vector<int> &factors,
                       llvm::function_ref<Value(unsigned)> blockOffset) {
  Value sum;
  Polynomial stride(1);
  for (int factor : llvm::reverse(factors)) {
    if (Value offset = blockOffset(static_cast<unsigned>(factor))) {
      if (stride != Polynomial(1))
        offset = MulOp::create(b, loc, offset,
                               buildSplatLike(b, offset, static_cast<double>(*stride.constant())));
      sum = sum ? Value(AddOp::create(b, loc, sum, offset)) : offset;
    }
    stride *= rule.factors[factor].size;
  }
  return sum;
}

// The clone of `op` for one rank, with the offsets of its block where results depend on them: a
// causal mask on the first query, dropout on all dims.
template <typename Op>
static SmallVector<Value> partitionRows(Op op, OpBuilder &b, ValueRange operands, TypeRange types,
                                        llvm::function_ref<Value(unsigned)> blockOffset) {
  AttentionScores scores(op);
  FactorRule rule = op.getFactorRule();
  const FactorRule::Dims &query = rule.operands[0];
  auto queries = static_cast<int64_t>(query.size()) - 2;
  SmallVector<Value> offsets;
  SmallVector<int64_t> dims;
  for (int64_t d = scores.drops() ? 0 : queries; d <= queries; ++d) {
    if (!scores.drops() && !scores.causal)
      break;
    if (Value offset = dimOffset(b, op.getLoc(), rule, query[d], blockOffset)) {
      offsets.push_back(offset);
      dims.push_back(d);
    }
  }
  SmallVector<Value> results = cloneWith(b, op, operands, types);
  if (offsets.empty())
    return results;
  auto local = cast<Op>(results[0].getDefiningOp());
  SmallVector<int64_t> whole;
  for (const Polynomial &size : scores.shape())
    whole.push_back(*size.constant());
  local.getOffsetsMutable().assign(offsets);
  local.setOffsetDims(dims);
  local.setWhole(whole);
  return results;
}

SmallVector<Value> AttentionOp::partition(OpBuilder &b, ValueRange operands, TypeRange types,
                                          llvm::function_ref<Value(unsigned)> blockOffset) {
  return partitionRows(*this, b, operands, types, blockOffset);
}

SmallVector<Value> AttentionGradOp::partition(OpBuilder &b, ValueRange operands, TypeRange types,
                                              llvm::function_ref<Value(unsigned)> blockOffset) {
  return partitionRows(*this, b, operands, types, blockOffset);
}

} // namespace cleave::graph
