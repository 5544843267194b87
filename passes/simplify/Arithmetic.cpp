// Simplification: arithmetic with neutral operands, casts of casts, selects with known operands.
#include "dialects/graph/Pointwise.h"
#include "passes/simplify/Match.h"
#include "passes/simplify/Patterns.h"

#include <cmath>

using namespace mlir;

namespace cleave::simplify {
namespace {

using namespace graph;

// op(x, neutral) is x; so is op(neutral, x) if the op is commutative.
template <typename Op, int neutral, bool commutative> struct DropNeutral : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    // Of integers, `and` and `or` are bitwise.
    if (isa<AndOp, OrOp>(op.getOperation()) && !elementTypeOf(op.getType()).isInteger(1))
      return failure();
    auto isNeutral = [](Value value) { return splatValue(value) == neutral; };
    if (isNeutral(op.getRhs()))
      rewriter.replaceOp(op, op.getLhs());
    else if (commutative && isNeutral(op.getLhs()))
      rewriter.replaceOp(op, op.getRhs());
    else
      return failure();
    return success();
  }
};

// (x * a) * b is x * (a b) for known a and b; likewise sums.
template <typename Op> struct MergeSplats : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  // The operand that is not a splat, and the splat's value.
  static std::optional<std::pair<Value, double>> parts(Op op) {
    std::optional<double> left = splatValue(op.getLhs()), right = splatValue(op.getRhs());
    if (left.has_value() == right.has_value())
      return std::nullopt;
    return left ? std::pair(Value(op.getRhs()), *left) : std::pair(Value(op.getLhs()), *right);
  }

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!isa<FloatType>(elementTypeOf(op.getType())))
      return failure();
    auto outer = parts(op);
    auto innerOp = outer ? outer->first.template getDefiningOp<Op>() : Op();
    auto inner = innerOp && innerOp->hasOneUse() ? parts(innerOp) : std::nullopt;
    if (!inner)
      return failure();
    bool isSum = std::is_same_v<Op, AddOp>;
    double both = roundTo(toElementType(elementTypeOf(op.getType())),
                          isSum ? inner->second + outer->second : inner->second * outer->second);
    if (!std::isfinite(both) || (!isSum && both == 0 && inner->second != 0 && outer->second != 0))
      return failure(); // the two splats overflow or vanish together, but not one after the other
    rewriter.replaceOpWithNewOp<Op>(op, inner->first,
                                    buildSplat(rewriter, op.getLoc(), op.getType(), both));
    return success();
  }
};

// Whether every value of the type `from` is a value of `to`.
bool widens(Type from, Type to) {
  if (from == to)
    return true;
  if (isa<FloatType>(from))
    return to.isF64() || (to.isF32() && !from.isF64());
  unsigned bits = from.getIntOrFloatBitWidth();
  if (isa<FloatType>(to)) // those of 16 bits hold the integers of 8
    return bits <= 8 || (to.isF32() && bits <= 16) || (to.isF64() && bits <= 32);
  bool keepsSign = isUnsigned(from) || !isUnsigned(to);
  return keepsSign && bits < to.getIntOrFloatBitWidth();
}

struct MergeCasts : OpRewritePattern<CastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(CastOp op, PatternRewriter &rewriter) const override {
    Value source = op.getOperand();
    if (source.getType() == op.getType()) {
      rewriter.replaceOp(op, source);
      return success();
    }
    auto inner = source.getDefiningOp<CastOp>();
    if (!inner || !widens(elementTypeOf(inner.getOperand()), elementTypeOf(source)))
      return failure();
    rewriter.replaceOpWithNewOp<CastOp>(op, op.getType(), inner.getOperand());
    return success();
  }
};

struct KnownSelect : OpRewritePattern<SelectOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SelectOp op, PatternRewriter &rewriter) const override {
    std::optional<double> condition = splatValue(op.getCondition());
    if (!condition && op.getOnTrue() != op.getOnFalse())
      return failure();
    rewriter.replaceOp(op, !condition || *condition ? op.getOnTrue() : op.getOnFalse());
    return success();
  }
};

// A select between true and false is its condition or the negation.
struct SelectOfTruths : OpRewritePattern<SelectOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SelectOp op, PatternRewriter &rewriter) const override {
    if (!elementTypeOf(op.getType()).isInteger(1))
      return failure();
    std::optional<double> yes = splatValue(op.getOnTrue()), no = splatValue(op.getOnFalse());
    if (!yes || !no || *yes == *no)
      return failure();
    if (*yes)
      rewriter.replaceOp(op, op.getCondition());
    else
      rewriter.replaceOpWithNewOp<NotOp>(op, op.getType(), op.getCondition());
    return success();
  }
};

// select(not c, x, y) is select(c, y, x).
struct SelectOfNot : OpRewritePattern<SelectOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SelectOp op, PatternRewriter &rewriter) const override {
    auto inverted = op.getCondition().getDefiningOp<NotOp>();
    if (!inverted)
      return failure();
    rewriter.replaceOpWithNewOp<SelectOp>(op, op.getType(), inverted.getOperand(), op.getOnFalse(),
                                          op.getOnTrue());
    return success();
  }
};

struct NotOfNot : OpRewritePattern<NotOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(NotOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<NotOp>();
    if (!inner)
      return failure();
    rewriter.replaceOp(op, inner.getOperand());
    return success();
  }
};

// A comparison of a select between two known numbers with a known number is the condition, its
// negation, or constant. Exporters write causal masks as tril(ones) == 0, also of a part of the
// table.
struct CompareOfSelect : OpRewritePattern<CompareOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(CompareOp op, PatternRewriter &rewriter) const override {
    Moved moved = behindMoves(op.getLhs());
    auto select = moved.source.getDefiningOp<SelectOp>();
    std::optional<double> bound = splatValue(op.getRhs());
    std::optional<double> yes = select ? splatValue(select.getOnTrue()) : std::nullopt;
    std::optional<double> no = select ? splatValue(select.getOnFalse()) : std::nullopt;
    if (!bound || !yes || !no)
      return failure();
    bool ifTrue = compareScalars(op.getPredicate(), *yes, *bound),
         ifFalse = compareScalars(op.getPredicate(), *no, *bound);
    if (ifTrue == ifFalse) {
      rewriter.replaceOp(op, buildSplat(rewriter, op.getLoc(), op.getType(), ifTrue));
      return success();
    }
    Value condition = moveAlike(rewriter, select.getCondition(), moved.moves);
    if (ifTrue)
      rewriter.replaceOp(op, condition);
    else
      rewriter.replaceOpWithNewOp<NotOp>(op, op.getType(), condition);
    return success();
  }
};

// not (a < b) is a >= b for integers.
struct NotOfCompare : OpRewritePattern<NotOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(NotOp op, PatternRewriter &rewriter) const override {
    auto compare = op.getOperand().getDefiningOp<CompareOp>();
    if (!compare || isa<FloatType>(elementTypeOf(compare.getLhs())))
      return failure();
    static constexpr Predicate kOpposite[] = {Predicate::NE, Predicate::EQ, Predicate::GE,
                                              Predicate::GT, Predicate::LE, Predicate::LT};
    rewriter.replaceOpWithNewOp<CompareOp>(op, kOpposite[static_cast<int>(compare.getPredicate())],
                                           compare.getLhs(), compare.getRhs());
    return success();
  }
};

} // namespace

void addArithmeticPatterns(RewritePatternSet &patterns) {
  patterns
      .add<DropNeutral<AddOp, 0, true>, DropNeutral<SubOp, 0, false>, DropNeutral<MulOp, 1, true>,
           DropNeutral<DivOp, 1, false>, DropNeutral<AndOp, 1, true>, DropNeutral<OrOp, 0, true>,
           MergeSplats<AddOp>, MergeSplats<MulOp>, MergeCasts, KnownSelect, SelectOfTruths,
           SelectOfNot, NotOfNot, CompareOfSelect, NotOfCompare>(patterns.getContext());
}

} // namespace cleave::simplify
