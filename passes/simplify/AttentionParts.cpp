// Simplification: moves into an attention op what exporters write around it: factors of queries and
// keys, repeated heads, additive masks that are boolean in effect, and causality.
#include "passes/simplify/Match.h"
#include "passes/simplify/Patterns.h"
#include "passes/simplify/Positions.h"
#include "passes/simplify/Repeats.h"

using namespace mlir;

namespace cleave::simplify {
namespace {

using namespace graph;

constexpr int kMaxTerms = 8; // of a conjunction
// The largest term that counts as excluding a score: scores of trained models stay far above it.
constexpr double kExcluded = -1e9;

// The same attention with other operands (null: none) and flags.
struct Parts {
  Value query, key, value, bias, mask;
  double scale;
  bool causal;
  FloatAttr fill;

  explicit Parts(AttentionOp op)
      : query(op.getQuery()), key(op.getKey()), value(op.getValue()), bias(op.getBias()),
        mask(op.getMask()), scale(op.getScale().convertToDouble()), causal(op.getCausal()),
        fill(op.getFillAttr()) {}

  LogicalResult replace(AttentionOp op, PatternRewriter &b) const {
    b.replaceOpWithNewOp<AttentionOp>(
        op, query, key, value, bias, mask, op.getSeed(), b.getF64FloatAttr(scale),
        causal ? b.getUnitAttr() : UnitAttr(), op.getSafeAttr(), fill, op.getDropoutAttr());
    return success();
  }
};

using AttentionPattern = OpRewritePattern<AttentionOp>;

// A known factor of queries or keys is part of the scale.
struct TakeFactor : AttentionPattern {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttentionOp op, PatternRewriter &b) const override {
    Parts parts(op);
    for (Value *side : {&parts.query, &parts.key}) {
      Moved moved = behindMoves(*side);
      Product product = productOf(moved.source);
      auto splat = moved.source.getDefiningOp<MulOp>() || moved.source.getDefiningOp<DivOp>();
      if (!splat || product.number == 1 || product.factors.size() != 1 ||
          elementTypeOf(moved.source).isF16())
        continue;
      *side = moveAlike(b, product.factors[0], moved.moves);
      parts.scale *= product.number;
      return parts.replace(op, b);
    }
    return failure();
  }
};

// The operand that is repeated for neighbouring heads: x in reshape(broadcast(x)) with a new dim
// after the heads.
Value repeatedHeads(Value value) {
  auto merge = value.getDefiningOp<ReshapeOp>();
  auto repeat = merge ? merge.getOperand().getDefiningOp<BroadcastOp>() : BroadcastOp();
  if (!repeat || rankOf(repeat) != rankOf(value) + 1 ||
      rankOf(repeat.getOperand()) != rankOf(value))
    return nullptr;
  int64_t added = rankOf(value) - 2; // [batch…, groups, repeated, keys, width]
  for (auto [i, dim] : llvm::enumerate(repeat.getDims()))
    if (dim != static_cast<int64_t>(i) + (static_cast<int64_t>(i) >= added ? 1 : 0))
      return nullptr;
  Shape wide = shapeOf(repeat), merged = wide;
  merged.erase(merged.begin() + added);
  merged[added - 1] = wide[added - 1] * wide[added];
  return merged == shapeOf(value) ? repeat.getOperand() : Value();
}

struct TakeGroups : AttentionPattern {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttentionOp op, PatternRewriter &b) const override {
    Parts parts(op);
    parts.key = repeatedHeads(parts.key);
    parts.value = repeatedHeads(parts.value);
    if (!parts.key || !parts.value || op.headsPerGroup() != 1)
      return failure();
    Shape key = shapeOf(parts.key), value = shapeOf(parts.value), query = shapeOf(parts.query);
    size_t heads = key.size() - 3;
    if (key[heads] != value[heads] || !key[heads].constant() || !query[heads].constant())
      return failure();
    return parts.replace(op, b);
  }
};

// Both masks hold; dims of size 1 are repeated.
Value conjunction(OpBuilder &b, Location loc, Value x, Value y) {
  Shape shape = shapeOf(x);
  for (auto [size, other] : llvm::zip(shape, shapeOf(y)))
    size = size == Polynomial(1) ? other : size;
  return AndOp::create(b, loc, buildBroadcast(b, loc, x, shape), buildBroadcast(b, loc, y, shape));
}

// A bias or a mask that is repeated along a dim has size 1 there.
struct DropRepeats : AttentionPattern {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttentionOp op, PatternRewriter &b) const override {
    Parts parts(op);
    bool found = false;
    for (Value *added : {&parts.bias, &parts.mask}) {
      if (!*added)
        continue;
      Value small = withoutRepeats(b, *added, repeatedDims(*added));
      found |= small != *added;
      *added = small;
    }
    return found ? parts.replace(op, b) : failure();
  }
};

// A bias whose elements are zero or excluding is a mask, unless all keys of a query may be
// excluded: then the added terms determine the weights, and gradients pass through them.
struct BiasToMask : AttentionPattern {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttentionOp op, PatternRewriter &b) const override {
    Parts parts(op);
    if (!parts.bias || parts.fill)
      return failure();
    Moved moved = behindMoves(parts.bias);
    parts.bias = nullptr;
    if (splatValue(moved.source) == 0)
      return parts.replace(op, b);
    auto select = moved.source.getDefiningOp<SelectOp>();
    if (!select)
      return failure();
    bool isOpposite = isSplatOf(select.getOnFalse(), 0);
    Value zero = isOpposite ? select.getOnFalse() : select.getOnTrue();
    std::optional<double> other = splatValue(isOpposite ? select.getOnTrue() : select.getOnFalse());
    if (!isSplatOf(zero, 0) || !other || *other > kExcluded)
      return failure();
    bool leavesSome = !parts.mask && isCausal(select.getCondition(), moved.moves, isOpposite);
    if (!std::isinf(*other) && !leavesSome)
      return failure();
    Value condition = select.getCondition();
    if (isOpposite)
      condition = NotOp::create(b, op.getLoc(), condition);
    Value mask = moveAlike(b, condition, moved.moves);
    parts.mask = parts.mask ? conjunction(b, op.getLoc(), parts.mask, mask) : mask;
    return parts.replace(op, b);
  }
};

// The operands of a conjunction, each with the moves between it and the mask.
SmallVector<Moved> conjuncts(Value mask) {
  SmallVector<Moved> open{{mask, {}}}, out;
  for (int steps = 0; !open.empty(); ++steps) {
    Moved next = open.pop_back_val(), moved = behindMoves(next.source);
    llvm::append_range(next.moves, moved.moves);
    auto both = moved.source.getDefiningOp<AndOp>();
    if (!both || steps > kMaxTerms) {
      out.push_back({moved.source, next.moves});
      continue;
    }
    open.push_back({both.getRhs(), next.moves});
    open.push_back({both.getLhs(), next.moves});
  }
  return out;
}

struct TakeCausality : AttentionPattern {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttentionOp op, PatternRewriter &b) const override {
    Parts parts(op);
    if (!parts.mask)
      return failure();
    SmallVector<Moved> terms = conjuncts(parts.mask);
    size_t count = terms.size();
    llvm::erase_if(terms, [&](const Moved &term) {
      bool causal = isCausal(term.source, term.moves);
      parts.causal |= causal;
      return causal || splatValue(term.source) == 1;
    });
    if (terms.size() == count)
      return failure();
    parts.mask = nullptr;
    for (const Moved &term : terms) {
      Value mask = moveAlike(b, term.source, term.moves);
      parts.mask = parts.mask ? Value(AndOp::create(b, op.getLoc(), parts.mask, mask)) : mask;
    }
    bool hasItself = parts.causal && parts.fill && parts.fill.getValueAsDouble() <= kExcluded;
    if (terms.empty() && (!parts.causal || hasItself))
      parts.fill = nullptr;
    return parts.replace(op, b);
  }
};

// If every query has a visible key, itself at least, no weight is NaN.
struct DropSafe : AttentionPattern {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttentionOp op, PatternRewriter &b) const override {
    if (!op.getSafe() || op.getBias() || op.getMask())
      return failure();
    b.modifyOpInPlace(op, [&] { op.setSafe(false); });
    return success();
  }
};

} // namespace

void addAttentionPartPatterns(RewritePatternSet &patterns) {
  patterns.add<TakeFactor, TakeGroups, DropRepeats, BiasToMask, TakeCausality, DropSafe>(
      patterns.getContext());
}

} // namespace cleave::simplify
