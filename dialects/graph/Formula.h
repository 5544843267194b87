// Formula: builds graph ops from arithmetic, for gradients and optimizers. `dy * (1.0 - y * y)`
// builds its ops at the builder's point; numbers become constants of the other operand's type.
#pragma once

#include "dialects/graph/Build.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace cleave::graph {

// A tensor in a formula.
struct Term {
  mlir::ImplicitLocOpBuilder *b = nullptr;
  mlir::Value value;

  operator mlir::Value() const { return value; }
  // A tensor of the same type with all elements equal to `number`.
  Term splat(double number) const {
    return {b, buildSplat(*b, b->getLoc(), value.getType(), number)};
  }
  template <typename Op, typename... Args> Term apply(Args... args) const {
    return {b, Op::create(*b, value, args...).getResult()};
  }
};

inline Term operator+(Term x, Term y) { return x.apply<AddOp>(y.value); }
inline Term operator-(Term x, Term y) { return x.apply<SubOp>(y.value); }
inline Term operator*(Term x, Term y) { return x.apply<MulOp>(y.value); }
inline Term operator/(Term x, Term y) { return x.apply<DivOp>(y.value); }
inline Term operator-(Term x) { return x.apply<NegOp>(); }
inline Term operator+(Term x, double y) { return x + x.splat(y); }
inline Term operator-(Term x, double y) { return x - x.splat(y); }
inline Term operator*(Term x, double y) { return x * x.splat(y); }
inline Term operator/(Term x, double y) { return x / x.splat(y); }
inline Term operator+(double x, Term y) { return y.splat(x) + y; }
inline Term operator-(double x, Term y) { return y.splat(x) - y; }
inline Term operator*(double x, Term y) { return y.splat(x) * y; }
inline Term operator/(double x, Term y) { return y.splat(x) / y; }

// Elementwise functions, each one graph op.
inline Term exp(Term x) { return x.apply<ExpOp>(); }
inline Term log(Term x) { return x.apply<LogOp>(); }
inline Term sin(Term x) { return x.apply<SinOp>(); }
inline Term cos(Term x) { return x.apply<CosOp>(); }
inline Term tanh(Term x) { return x.apply<TanhOp>(); }
inline Term erf(Term x) { return x.apply<ErfOp>(); }
inline Term sqrt(Term x) { return x.apply<SqrtOp>(); }
inline Term rsqrt(Term x) { return x.apply<RsqrtOp>(); }
inline Term abs(Term x) { return x.apply<AbsOp>(); }
inline Term pow(Term x, Term y) { return x.apply<PowOp>(y.value); }
inline Term max(Term x, Term y) { return x.apply<MaxOp>(y.value); }
inline Term max(Term x, double y) { return max(x, x.splat(y)); }
inline Term min(Term x, Term y) { return x.apply<MinOp>(y.value); }

// Booleans: whether x compares to y by the predicate.
inline Term compare(Term x, Predicate predicate, Term y) {
  return {x.b, CompareOp::create(*x.b, predicate, x.value, y.value).getResult()};
}
inline Term operator>(Term x, Term y) { return compare(x, Predicate::GT, y); }
inline Term operator>(Term x, double y) { return x > x.splat(y); }
inline Term operator<(Term x, Term y) { return compare(x, Predicate::LT, y); }
inline Term operator<(Term x, double y) { return x < x.splat(y); }
inline Term operator<=(Term x, double y) { return compare(x, Predicate::LE, x.splat(y)); }
inline Term operator==(Term x, Term y) { return compare(x, Predicate::EQ, y); }
inline Term operator==(Term x, double y) { return x == x.splat(y); }
inline Term operator!=(Term x, double y) { return compare(x, Predicate::NE, x.splat(y)); }
inline Term select(Term condition, Term x, Term y) {
  return {x.b, SelectOp::create(*x.b, x.value.getType(), condition, x, y).getResult()};
}
inline Term select(Term condition, Term x, double y) { return select(condition, x, x.splat(y)); }

// Reductions over `dims`; spread() repeats `x` along `dims` to the shape of `like`.
inline Term reduce(Reduction kind, Term x, llvm::ArrayRef<int64_t> dims) {
  return {x.b, buildReduce(*x.b, kind, x, dims)};
}
inline Term sum(Term x, llvm::ArrayRef<int64_t> dims) { return reduce(Reduction::Sum, x, dims); }
inline Term mean(Term x, llvm::ArrayRef<int64_t> dims) { return {x.b, buildMean(*x.b, x, dims)}; }
inline Term spread(Term x, mlir::Value like, llvm::ArrayRef<int64_t> dims) {
  return {x.b, buildBroadcastOver(*x.b, x, like, dims)};
}
// The scalar `x` in every element of a tensor of the shape of `like`.
inline Term everywhere(Term x, mlir::Value like) {
  return {x.b, buildBroadcast(*x.b, x.b->getLoc(), x, shapeOf(like))};
}
inline Term cast(Term x, mlir::Type element) { return {x.b, buildCast(*x.b, x, element)}; }

} // namespace cleave::graph
