// MLIR's polynomials in single precision; exp and log in double precision.
#include "passes/codegen/gpu/Functions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace cleave::codegen {

namespace {

// Arithmetic on f64 and i64 scalars.
class Doubles {
public:
  Doubles(OpBuilder &b, Location loc) : b_(b), loc_(loc) {}
  Value number(double x) { return arith::ConstantOp::create(b_, loc_, b_.getF64FloatAttr(x)); }
  Value whole(int64_t x) { return arith::ConstantOp::create(b_, loc_, b_.getI64IntegerAttr(x)); }
  Value add(Value x, Value y) { return arith::AddFOp::create(b_, loc_, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b_, loc_, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b_, loc_, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b_, loc_, x, y); }
  Value fma(Value x, Value y, Value z) { return math::FmaOp::create(b_, loc_, x, y, z); }
  Value addWhole(Value x, Value y) { return arith::AddIOp::create(b_, loc_, x, y); }
  Value subWhole(Value x, Value y) { return arith::SubIOp::create(b_, loc_, x, y); }
  Value choose(Value c, Value x, Value y) { return arith::SelectOp::create(b_, loc_, c, x, y); }
  Value is(arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(b_, loc_, predicate, x, y);
  }
  Value bits(Value x) { return arith::BitcastOp::create(b_, loc_, b_.getI64Type(), x); }
  Value fromBits(Value x) { return arith::BitcastOp::create(b_, loc_, b_.getF64Type(), x); }
  Value toWhole(Value x) { return arith::FPToSIOp::create(b_, loc_, b_.getI64Type(), x); }
  Value toNumber(Value x) { return arith::SIToFPOp::create(b_, loc_, b_.getF64Type(), x); }
  Value nearest(Value x) { return math::RoundEvenOp::create(b_, loc_, x); }
  Value shiftRight(Value x, int64_t n) { return arith::ShRSIOp::create(b_, loc_, x, whole(n)); }
  Value shiftLeft(Value x, int64_t n) { return arith::ShLIOp::create(b_, loc_, x, whole(n)); }
  Value mask(Value x, int64_t y) { return arith::AndIOp::create(b_, loc_, x, whole(y)); }
  Value join(Value x, int64_t y) { return arith::OrIOp::create(b_, loc_, x, whole(y)); }
  // 2^n for a normal result.
  Value power2(Value n) { return fromBits(shiftLeft(addWhole(n, whole(1023)), 52)); }

private:
  OpBuilder &b_;
  Location loc_;
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
    Doubles d(rewriter, op.getLoc());
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
    Doubles d(rewriter, op.getLoc());
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

// Functions for which GPUs have instructions.
bool isNative(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::FloorOp, math::FmaOp,
             math::RoundEvenOp, math::RoundOp, math::RsqrtOp, math::SqrtOp, math::TruncOp>(op);
}

} // namespace

Status expandFunctions(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populateMathPolynomialApproximationPatterns(patterns);
  math::populateExpansionPatterns(patterns, {"powf"});
  patterns.add<ExpandExp, ExpandLog>(module.getContext());
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
