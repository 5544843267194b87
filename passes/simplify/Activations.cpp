// Simplification: recognises activation functions by their formulas.
#include "passes/simplify/Match.h"
#include "passes/simplify/Patterns.h"

#include <cmath>
#include <numbers>

using namespace mlir;

namespace cleave::simplify {
namespace {

using namespace graph;

constexpr double kCubic = 0.044715;

// The product without one of its factors; none if it does not have that factor.
std::optional<Product> without(Product product, Value factor) {
  auto *found = llvm::find(product.factors, factor);
  if (found == product.factors.end())
    return std::nullopt;
  product.factors.erase(found);
  return product;
}

// Returns x if the product is sqrt(2/pi) (x + 0.044715 x^3), also written as x (1 + 0.044715 x^2)
// or with the factor inside; else null.
Value tanhArgument(Value argument) {
  const double slope = std::sqrt(2 / std::numbers::pi);
  // number * x + number * cubic * x^3
  auto ofSum = [](AddOp sum, double number) -> Value {
    for (auto [linear, cube] :
         {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())}) {
      Value x = isNear(number, 1) ? linear : withoutFactor(linear);
      if (isMonomial(productOf(linear), number, productOf(x), 1) &&
          isMonomial(productOf(cube), number * kCubic, productOf(x), 3))
        return x;
    }
    return nullptr;
  };
  if (auto sum = argument.getDefiningOp<AddOp>())
    return ofSum(sum, slope);
  if (auto sum = withoutFactor(argument).getDefiningOp<AddOp>())
    return isNear(productOf(argument).number, slope) ? ofSum(sum, 1) : Value();
  Product product = productOf(argument);
  for (Value factor : product.factors) {
    Value square = otherThanSplat<AddOp>(factor, 1);
    Product rest = square ? *without(product, factor) : Product();
    Product x{1, rest.factors};
    if (!square || !isNear(rest.number, slope) || !isMonomial(productOf(square), kCubic, x, 2))
      continue;
    // x as a value: the only factor, or the other operand of the outermost product.
    if (x.factors.size() == 1)
      return x.factors[0];
  }
  return nullptr;
}

// Matches half of 1 + f(x), written as (1 + f) 0.5 or 0.5 f + 0.5, or 1 + f with the 0.5 elsewhere.
// Returns f and its factor.
std::pair<Value, double> bellOf(Value factor) {
  for (double half : {1.0, 0.5}) {
    Value f = otherThanSplat<AddOp>(factor, half);
    if (f && half == 1)
      return {f, 1};
    if (f && isNear(productOf(f).number, half))
      return {withoutFactor(f), 0.5};
  }
  return {};
}

// 0.5 x (1 + erf(x / √2)), and the approximation by tanh.
struct RecogniseGelu : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MulOp op, PatternRewriter &rewriter) const override {
    Product product = productOf(op.getResult());
    for (Value factor : product.factors) {
      auto [f, number] = bellOf(factor);
      auto erf = f ? f.getDefiningOp<ErfOp>() : ErfOp();
      auto tanh = f ? f.getDefiningOp<TanhOp>() : TanhOp();
      Value x = erf    ? withoutFactor(erf.getOperand())
                : tanh ? tanhArgument(tanh.getOperand())
                       : Value();
      if (!x ||
          (erf &&
           !isMonomial(productOf(erf.getOperand()), 1 / std::numbers::sqrt2, productOf(x), 1)) ||
          !isMonomial(*without(product, factor), 0.5 / number, productOf(x), 1))
        continue;
      rewriter.replaceOpWithNewOp<GeluOp>(op, op.getType(), x, /*tanh=*/!erf);
      return success();
    }
    return failure();
  }
};

// 1 / (1 + exp(-x)).
struct RecogniseSigmoid : OpRewritePattern<DivOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DivOp op, PatternRewriter &rewriter) const override {
    Value decay = otherThanSplat<AddOp>(op.getRhs(), 1);
    auto exp = decay ? decay.getDefiningOp<ExpOp>() : ExpOp();
    auto neg = exp ? exp.getOperand().getDefiningOp<NegOp>() : NegOp();
    if (!neg || !isa<FloatType>(elementTypeOf(op.getType())))
      return failure();
    Value sigmoid = SigmoidOp::create(rewriter, op.getLoc(), op.getType(), neg.getOperand());
    if (!isSplatOf(op.getLhs(), 1))
      sigmoid = MulOp::create(rewriter, op.getLoc(), op.getLhs(), sigmoid);
    rewriter.replaceOp(op, sigmoid);
    return success();
  }
};

// x sigmoid(x), and x sigmoid(1.702 x).
struct RecogniseSilu : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MulOp op, PatternRewriter &rewriter) const override {
    constexpr double kSteepness = 1.702; // of the sigmoid approximation of gelu
    for (auto [x, gate] :
         {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
      auto sigmoid = gate.getDefiningOp<SigmoidOp>();
      if (!sigmoid)
        continue;
      if (sigmoid.getOperand() == x) {
        rewriter.replaceOpWithNewOp<SiluOp>(op, op.getType(), x);
        return success();
      }
      if (withoutFactor(sigmoid.getOperand()) == x &&
          isMonomial(productOf(sigmoid.getOperand()), kSteepness, productOf(x), 1)) {
        rewriter.replaceOpWithNewOp<QuickGeluOp>(op, op.getType(), x);
        return success();
      }
    }
    return failure();
  }
};

} // namespace

void addActivationPatterns(RewritePatternSet &patterns) {
  patterns.add<RecogniseGelu, RecogniseSigmoid, RecogniseSilu>(patterns.getContext());
}

} // namespace cleave::simplify
