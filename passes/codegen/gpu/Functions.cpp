// exp and log in double precision; exp, tanh and erf in single precision by the GPU's 2^x, which is
// several times as fast as a polynomial over the whole range; MLIR's polynomials for the rest.
#include "passes/codegen/gpu/Functions.h"

#include "passes/codegen/nest/Angles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>
#include <limits>
#include <numbers>

using namespace mlir;

namespace cleave::codegen {

namespace {

// Arithmetic on scalars of a float type, and on integers of the same width.
class Numbers {
public:
  Numbers(OpBuilder &b, Operation *op)
      : b_(b), loc_(op->getLoc()), type_(cast<FloatType>(op->getResult(0).getType())),
        whole_(b.getIntegerType(type_.getWidth())) {}
  Value number(double x) { return arith::ConstantOp::create(b_, loc_, b_.getFloatAttr(type_, x)); }
  Value whole(int64_t x) {
    return arith::ConstantOp::create(b_, loc_, b_.getIntegerAttr(whole_, x));
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(b_, loc_, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b_, loc_, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b_, loc_, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b_, loc_, x, y); }
  Value neg(Value x) { return arith::NegFOp::create(b_, loc_, x); }
  Value fma(Value x, Value y, Value z) { return math::FmaOp::create(b_, loc_, x, y, z); }
  Value abs(Value x) { return math::AbsFOp::create(b_, loc_, x); }
  Value withSign(Value x, Value y) { return math::CopySignOp::create(b_, loc_, x, y); }
  // NaN if either is NaN.
  Value smaller(Value x, Value y) { return arith::MinimumFOp::create(b_, loc_, x, y); }
  Value larger(Value x, Value y) { return arith::MaximumFOp::create(b_, loc_, x, y); }
  Value addWhole(Value x, Value y) { return arith::AddIOp::create(b_, loc_, x, y); }
  Value subWhole(Value x, Value y) { return arith::SubIOp::create(b_, loc_, x, y); }
  Value choose(Value c, Value x, Value y) { return arith::SelectOp::create(b_, loc_, c, x, y); }
  Value is(arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(b_, loc_, predicate, x, y);
  }
  Value bits(Value x) { return arith::BitcastOp::create(b_, loc_, whole_, x); }
  Value fromBits(Value x) { return arith::BitcastOp::create(b_, loc_, type_, x); }
  Value toWhole(Value x) { return arith::FPToSIOp::create(b_, loc_, whole_, x); }
  Value toNumber(Value x) { return arith::SIToFPOp::create(b_, loc_, type_, x); }
  Value nearest(Value x) { return math::RoundEvenOp::create(b_, loc_, x); }
  Value shiftRight(Value x, int64_t n) { return arith::ShRSIOp::create(b_, loc_, x, whole(n)); }
  Value shiftLeft(Value x, int64_t n) { return arith::ShLIOp::create(b_, loc_, x, whole(n)); }
  Value mask(Value x, int64_t y) { return arith::AndIOp::create(b_, loc_, x, whole(y)); }
  Value join(Value x, int64_t y) { return arith::OrIOp::create(b_, loc_, x, whole(y)); }
  // 2^n for a normal result of type f64.
  Value power2(Value n) { return fromBits(shiftLeft(addWhole(n, whole(1023)), 52)); }
  // The polynomial with these coefficients, the constant one first.
  Value polynomial(ArrayRef<Value> coefficients, Value x) {
    Value sum = coefficients.back();
    for (Value next : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, next);
    return sum;
  }
  // An instruction of the GPU on f32: relative error 2^-22; results that are not normal are 0.
  Value exp2(Value x) {
    return LLVM::CallIntrinsicOp::create(b_, loc_, type_,
                                         b_.getStringAttr("llvm.nvvm.ex2.approx.ftz"), x)
        ->getResult(0);
  }
  // 1 / x of an f32, with an error of one unit in the last place; results that are not normal are
  // 0.
  Value reciprocal(Value x) {
    return LLVM::CallIntrinsicOp::create(b_, loc_, type_,
                                         b_.getStringAttr("llvm.nvvm.rcp.approx.ftz.f"), x)
        ->getResult(0);
  }

private:
  OpBuilder &b_;
  Location loc_;
  FloatType type_;
  Type whole_;
};

using P = arith::CmpFPredicate;
// ln 2 in two parts, of which the first has zeros at its end.
constexpr double kLn2High = 0x1.62e42fee00000p-1, kLn2Low = 0x1.a39ef35793c76p-33;

// exp(x) = 2^n exp(r) with |r| <= ln(2)/2, by the Taylor series of degree 13: its error is 5e-18.
struct ExpandExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ExpOp op, PatternRewriter &rewriter) const override {
    if (!op.getType().isF64())
      return failure();
    Numbers d(rewriter, op);
    Value x = op.getOperand();
    // Beyond these, the result is 0 or infinite; NaN becomes a number here.
    Value inside = d.choose(d.is(P::OGT, x, d.number(-760)), x, d.number(-760));
    inside = d.choose(d.is(P::OLT, inside, d.number(720)), inside, d.number(720));
    Value n = d.nearest(d.mul(inside, d.number(1.4426950408889634)));
    Value r = d.fma(n, d.number(-kLn2High), inside);
    r = d.fma(n, d.number(-kLn2Low), r);
    Value sum = d.number(1);
    for (int k = 13; k > 0; --k)
      sum = d.fma(d.mul(sum, r), d.number(1.0 / k), d.number(1));
    Value whole = d.toWhole(n), half = d.shiftRight(whole, 1);
    Value scaled = d.mul(d.mul(sum, d.power2(half)), d.power2(d.subWhole(whole, half)));
    rewriter.replaceOp(op, d.choose(d.is(P::UNO, x, x), x, scaled));
    return success();
  }
};

// log(x) = e ln(2) + log(m) with m in [sqrt(1/2), sqrt(2)), and log(m) = 2 artanh((m-1)/(m+1)) by
// its series to the power 23: its error is 1e-18.
struct ExpandLog : OpRewritePattern<math::LogOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::LogOp op, PatternRewriter &rewriter) const override {
    if (!op.getType().isF64())
      return failure();
    Numbers d(rewriter, op);
    Value x = op.getOperand();
    Value isSmall = d.is(P::OLT, x, d.number(std::numeric_limits<double>::min()));
    Value normal = d.choose(isSmall, d.mul(x, d.number(0x1p54)), x);
    Value bits = d.bits(normal), exponent = d.subWhole(d.shiftRight(bits, 52), d.whole(1023));
    Value m = d.fromBits(d.join(d.mask(bits, 0xfffffffffffff), 0x3ff0000000000000));
    Value isLarge = d.is(P::OGT, m, d.number(std::sqrt(2.0)));
    m = d.choose(isLarge, d.mul(m, d.number(0.5)), m);
    exponent = d.choose(isLarge, d.addWhole(exponent, d.whole(1)), exponent);
    exponent = d.choose(isSmall, d.subWhole(exponent, d.whole(54)), exponent);
    Value s = d.div(d.sub(m, d.number(1)), d.add(m, d.number(1))), z = d.mul(s, s);
    Value series = d.number(2.0 / 23);
    for (int k = 21; k > 0; k -= 2)
      series = d.fma(series, z, d.number(2.0 / k));
    Value e = d.toNumber(exponent);
    Value low = d.fma(e, d.number(kLn2Low), d.mul(s, series));
    Value result = d.fma(e, d.number(kLn2High), low);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Value isFinite = d.is(P::OLT, x, d.number(infinity)); // else infinite or NaN: log(x) = x
    result = d.choose(isFinite, result, x);
    result = d.choose(d.is(P::OLT, x, d.number(0)), d.number(std::nan("")), result);
    rewriter.replaceOp(op, d.choose(d.is(P::OEQ, x, d.number(0)), d.number(-infinity), result));
    return success();
  }
};

constexpr double kLog2E = std::numbers::log2e;

// Whether an error of 2^-14 relative to the result will do.
template <typename Op> bool isApproximate(Op op) {
  return bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn);
}

// exp(x) = 2^p (1 + ln(2) r), where p is x log2(e) as rounded and r the rest: relative error 3e-7.
// Results below the smallest normal number are 0.
struct ExpandShortExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ExpOp op, PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    Numbers d(rewriter, op);
    if (isApproximate(op)) {
      rewriter.replaceOp(op, d.exp2(d.mul(op.getOperand(), d.number(kLog2E))));
      return success();
    }
    constexpr float high = kLog2E;
    // Beyond these, the result is 0 or infinite.
    Value x = d.larger(d.smaller(op.getOperand(), d.number(256)), d.number(-256));
    Value product = d.mul(x, d.number(high));
    Value rest = d.fma(x, d.number(high), d.neg(product));
    rest = d.fma(x, d.number(kLog2E - high), rest);
    Value correction = d.fma(rest, d.number(std::numbers::ln2), d.number(1));
    rewriter.replaceOp(op, d.mul(d.exp2(product), correction));
    return success();
  }
};

// Near 0, tanh(x) = x + x^3 P(x^2); beyond, 1 - 2 / (1 + exp(2 |x|)). The error is 2 units in the
// last place. P minimises the largest relative error in the interval.
struct ExpandTanh : OpRewritePattern<math::TanhOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::TanhOp op, PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    Numbers d(rewriter, op);
    Value x = op.getOperand(), size = d.abs(x), square = d.mul(x, x);
    SmallVector<Value> p;
    for (double coefficient : {-0.3333329927213493, 0.13331958244223435, -0.05378668368388249,
                               0.0208053849288468, -0.005905868775631058})
      p.push_back(d.number(coefficient));
    Value near = isApproximate(op) ? x : d.fma(d.mul(d.polynomial(p, square), square), x, x);
    // The infinite power of a large number gives 1.
    Value power = d.exp2(d.mul(size, d.number(2 * kLog2E)));
    Value far = d.fma(d.reciprocal(d.add(power, d.number(1))), d.number(-2), d.number(1));
    Value isFar = d.is(P::OGE, size, d.number(isApproximate(op) ? 0.01 : 0.6)); // NaN is near
    rewriter.replaceOp(op, d.choose(isFar, d.withSign(far, x), near));
    return success();
  }
};

// Near 0, erf(x) = x P(x^2); beyond, 1 - 2^(-|x| Q(|x|)). The error is 3 units in the last place.
// P minimises the largest relative error in [0, 1], and Q in [1, 4], after which erf is 1.
struct ExpandErf : OpRewritePattern<math::ErfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ErfOp op, PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    Numbers d(rewriter, op);
    rewriter.replaceOp(op, isApproximate(op) ? approximate(d, op.getOperand())
                                             : expand(d, op.getOperand()));
    return success();
  }

  // The expansion with a single Q for [0, 4], which minimises the largest absolute error, and with
  // x P(0) near 0.
  static Value approximate(Numbers &d, Value x) {
    Value size = d.abs(x), limited = d.smaller(size, d.number(4));
    SmallVector<Value> q;
    for (double coefficient : {1.62791373, 0.918328647, 0.148963659, -0.0294524995, 0.00230222738,
                               0.000461576253, -0.000100221407})
      q.push_back(d.number(coefficient));
    Value power = d.exp2(d.neg(d.mul(d.polynomial(q, limited), limited)));
    Value far = d.withSign(d.sub(d.number(1), power), x);
    Value isFar = d.is(P::OGE, size, d.number(0.01)); // NaN is near
    return d.choose(isFar, far, d.mul(x, d.number(1.1283791670955126)));
  }

  static Value expand(Numbers &d, Value x) {
    Value size = d.abs(x);
    Value isFar = d.is(P::OGE, size, d.number(1)); // NaN is near
    Value limited = d.smaller(size, d.number(4));
    constexpr std::pair<double, double> coefficients[] = {
        {1.1283791225189361, 1.6280525464696862},
        {-0.3761232623520961, 0.9173109500036185},
        {0.1128018037816884, 0.15165049275340184},
        {-0.026711317300460845, -0.0328912025036811},
        {0.004917557340772858, 0.004597783611980505},
        {-0.000563144350555473, -0.00030389285805707157}};
    SmallVector<Value> chosen;
    for (auto [p, q] : coefficients)
      chosen.push_back(d.choose(isFar, d.number(q), d.number(p)));
    Value argument = d.choose(isFar, limited, d.mul(x, x));
    Value product = d.mul(d.polynomial(chosen, argument), limited);
    Value far = d.sub(d.number(1), d.exp2(d.neg(product)));
    return d.withSign(d.choose(isFar, far, product), x);
  }
};

// Functions for which GPUs have instructions.
bool isNative(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::FloorOp, math::FmaOp,
             math::RoundEvenOp, math::RoundOp, math::RsqrtOp, math::SqrtOp, math::TruncOp>(op);
}

} // namespace

Status expandFunctions(ModuleOp module) {
  reduceAngles(module);
  RewritePatternSet patterns(module.getContext());
  populateMathPolynomialApproximationPatterns(patterns);
  math::populateExpansionPatterns(patterns, {"powf"});
  patterns.add<ExpandExp, ExpandLog>(module.getContext());
  patterns.add<ExpandShortExp, ExpandTanh, ExpandErf>(module.getContext(), PatternBenefit(2));
  if (failed(applyPatternsGreedily(module, std::move(patterns))))
    return Status::defect("the mathematical functions of the kernels could not be approximated");
  Status status = Status::ok();
  module.walk([&](Operation *op) {
    if (!isa<math::MathDialect>(op->getDialect()) || isNative(op) || !status.isOk())
      return;
    std::string type;
    llvm::raw_string_ostream(type) << op->getResult(0).getType();
    status = Status::userError(
        "kernel '", op->getParentOfType<func::FuncOp>().getSymName().str(), "' computes ",
        op->getName().stripDialect().str(), " of ", type,
        ", for which GPUs have no code; in single precision (--dtype f32) they have");
  });
  return status;
}

} // namespace cleave::codegen
