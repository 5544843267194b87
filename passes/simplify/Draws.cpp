// Simplification: random numbers compared with a known probability are a dropout of ones times that
// probability. A training step draws dropouts, and without training they keep everything: so
// stochastic depth that was exported in training mode leaves inference as it should be.
#include "passes/simplify/Patterns.h"

#include "dialects/graph/Build.h"

using namespace mlir;

namespace cleave::simplify {
namespace {

using namespace graph;

// Whether the value is uniform random numbers that nothing else reads, maybe cast.
bool isUniform(Value value) {
  while (value.hasOneUse()) {
    if (value.getDefiningOp<RandomOp>())
      return true;
    auto cast = value.getDefiningOp<CastOp>();
    if (!cast || !isa<FloatType>(elementTypeOf(value)))
      return false;
    value = cast.getOperand();
  }
  return false;
}

// The known number that uniform numbers are compared with or added to; none for other operands.
std::optional<double> besideUniform(Value uniform, Value known) {
  return isUniform(uniform) ? splatValue(known) : std::nullopt;
}

LogicalResult replaceByDraw(Operation *op, std::optional<double> p, PatternRewriter &b) {
  if (!p || !(*p > 0 && *p < 1))
    return failure();
  Type type = op->getResult(0).getType();
  Value ones = buildSplat(b, op->getLoc(), type, 1);
  Value kept = DropoutOp::create(b, op->getLoc(), type, ones, Value(), b.getF64FloatAttr(1 - *p));
  b.replaceOp(op, MulOp::create(b, op->getLoc(), kept, buildSplatLike(b, kept, *p)));
  return success();
}

// floor(p + u) for u in [0, 1), as transformers writes it.
struct FloorOfUniform : OpRewritePattern<FloorOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(FloorOp op, PatternRewriter &b) const override {
    auto sum = op.getOperand().getDefiningOp<AddOp>();
    if (!sum || !sum->hasOneUse())
      return failure();
    std::optional<double> p = besideUniform(sum.getLhs(), sum.getRhs());
    return replaceByDraw(op, p ? p : besideUniform(sum.getRhs(), sum.getLhs()), b);
  }
};

// u < p as a float, as ONNX files have it.
struct ComparedUniform : OpRewritePattern<CastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(CastOp op, PatternRewriter &b) const override {
    auto compare = op.getOperand().getDefiningOp<CompareOp>();
    if (!compare || !compare->hasOneUse() || !isa<FloatType>(elementTypeOf(op.getResult())))
      return failure();
    bool isLess = compare.getPredicate() == Predicate::LT;
    return isLess ? replaceByDraw(op, besideUniform(compare.getLhs(), compare.getRhs()), b)
                  : failure();
  }
};

} // namespace

void addDrawPatterns(RewritePatternSet &patterns) {
  patterns.add<FloorOfUniform, ComparedUniform>(patterns.getContext());
}

} // namespace cleave::simplify
