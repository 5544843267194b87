// Simplification: activation functions that an exporter wrote as their formulas.
#include "passes/simplify/Match.h"
#include "passes/simplify/Patterns.h"

#include <cmath>
#include <numbers>

using namespace mlir;

namespace cleave::simplify {
namespace {

using namespace graph;

// Removes one `value` from the factors.
bool take(SmallVector<Value> &factors, Value value) {
  auto *found = llvm::find(factors, value);
  if (found == factors.end())
    return false;
  factors.erase(found);
  return true;
}

// Whether `value` is number * x^power.
bool isMonomial(Value value, double number, Value x, size_t power) {
  Product product = productOf(value);
  return isNear(product.number, number) && product.factors.size() == power &&
         llvm::all_equal(product.factors) && product.factors[0] == x;
}

// x + 0.044715 x^3, or x (1 + 0.044715 x^2) among the factors.
bool isTanhArgument(Product product, Value x) {
  if (!isNear(product.number, std::sqrt(2 / std::numbers::pi)))
    return false;
  constexpr double cubic = 0.044715;
  if (product.factors.size() == 1) {
    auto sum = product.factors[0].getDefiningOp<AddOp>();
    return sum && ((sum.getLhs() == x && isMonomial(sum.getRhs(), cubic, x, 3)) ||
                   (sum.getRhs() == x && isMonomial(sum.getLhs(), cubic, x, 3)));
  }
  if (product.factors.size() != 2 || !take(product.factors, x))
    return false;
  Value square = otherThanSplat<AddOp>(product.factors[0], 1);
  return square && isMonomial(square, cubic, x, 2);
}

// 0.5 x (1 + erf(x / √2)), and the approximation by tanh.
struct RecogniseGelu : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MulOp op, PatternRewriter &rewriter) const override {
    Product product = productOf(op.getResult());
    if (product.factors.size() != 2 || !isNear(product.number, 0.5))
      return failure();
    for (int i : {0, 1}) {
      Value x = product.factors[i], bell = otherThanSplat<AddOp>(product.factors[1 - i], 1);
      if (!bell)
        continue;
      auto erf = bell.getDefiningOp<ErfOp>();
      auto tanh = bell.getDefiningOp<TanhOp>();
      bool exact = erf && isMonomial(erf.getOperand(), 1 / std::numbers::sqrt2, x, 1);
      if (!exact && !(tanh && isTanhArgument(productOf(tanh.getOperand()), x)))
        continue;
      rewriter.replaceOpWithNewOp<GeluOp>(op, op.getType(), x, /*tanh=*/!exact);
      return success();
    }
    return failure();
  }
};

struct RecogniseSilu : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MulOp op, PatternRewriter &rewriter) const override {
    for (auto [x, gate] :
         {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
      auto sigmoid = gate.getDefiningOp<SigmoidOp>();
      if (!sigmoid || sigmoid.getOperand() != x)
        continue;
      rewriter.replaceOpWithNewOp<SiluOp>(op, op.getType(), x);
      return success();
    }
    return failure();
  }
};

// max(x, 0).
struct RecogniseRelu : OpRewritePattern<MaxOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MaxOp op, PatternRewriter &rewriter) const override {
    Value x = otherThanSplat<MaxOp>(op.getResult(), 0);
    if (!x || !isa<FloatType>(elementTypeOf(x)))
      return failure();
    rewriter.replaceOpWithNewOp<ReluOp>(op, op.getType(), x);
    return success();
  }
};

} // namespace

void addActivationPatterns(RewritePatternSet &patterns) {
  patterns.add<RecogniseGelu, RecogniseSilu, RecogniseRelu>(patterns.getContext());
}

} // namespace cleave::simplify
