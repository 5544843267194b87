// Formula: builds graph ops from arithmetic. `dy * (1.0 - y * y)` builds its ops at the builder's
// point; numbers become constants of the other operand's type.
#pragma once

#include "dialects/graph/Build.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace cleave::autodiff {

// A tensor in a formula.
struct Term {
  mlir::ImplicitLocOpBuilder *b = nullptr;
  mlir::Value value;

  operator mlir::Value() const { return value; }
  // A tensor of the same type with all elements equal to `number`.
  Term splat(double number) const {
    return {b, graph::buildSplat(*b, b->getLoc(), value.getType(), number)};
  }
  template <typename Op, typename... Args> Term apply(Args... args) const {
    return {b, Op::create(*b, value, args...).getResult()};
  }
};

inline Term operator+(Term x, Term y) { return x.apply<graph::AddOp>(y.value); }
inline Term operator-(Term x, Term y) { return x.apply<graph::SubOp>(y.value); }
inline Term operator*(Term x, Term y) { return x.apply<graph::MulOp>(y.value); }
inline Term operator/(Term x, Term y) { return x.apply<graph::DivOp>(y.value); }
inline Term operator-(Term x) { return x.apply<graph::NegOp>(); }
inline Term operator+(Term x, double y) { return x + x.splat(y); }
inline Term operator-(Term x, double y) { return x - x.splat(y); }
inline Term operator*(Term x, double y) { return x * x.splat(y); }
inline Term operator/(Term x, double y) { return x / x.splat(y); }
inline Term operator+(double x, Term y) { return y.splat(x) + y; }
inline Term operator-(double x, Term y) { return y.splat(x) - y; }
inline Term operator*(double x, Term y) { return y.splat(x) * y; }
inline Term operator/(double x, Term y) { return y.splat(x) / y; }

// Elementwise functions, each one graph op.
inline Term exp(Term x) { return x.apply<graph::ExpOp>(); }
inline Term log(Term x) { return x.apply<graph::LogOp>(); }
inline Term sin(Term x) { return x.apply<graph::SinOp>(); }
inline Term cos(Term x) { return x.apply<graph::CosOp>(); }
inline Term tanh(Term x) { return x.apply<graph::TanhOp>(); }
inline Term erf(Term x) { return x.apply<graph::ErfOp>(); }
inline Term pow(Term x, Term y) { return x.apply<graph::PowOp>(y.value); }

// Booleans: whether x compares to y by the predicate.
inline Term compare(Term x, graph::Predicate predicate, Term y) {
  return {x.b, graph::CompareOp::create(*x.b, predicate, x.value, y.value).getResult()};
}
inline Term operator>(Term x, Term y) { return compare(x, graph::Predicate::GT, y); }
inline Term operator>(Term x, double y) { return x > x.splat(y); }
inline Term operator<(Term x, Term y) { return compare(x, graph::Predicate::LT, y); }
inline Term operator<(Term x, double y) { return x < x.splat(y); }
inline Term operator==(Term x, Term y) { return compare(x, graph::Predicate::EQ, y); }
inline Term operator==(Term x, double y) { return x == x.splat(y); }
inline Term operator!=(Term x, double y) { return compare(x, graph::Predicate::NE, x.splat(y)); }
inline Term select(Term condition, Term x, Term y) {
  return {x.b, graph::SelectOp::create(*x.b, x.value.getType(), condition, x, y).getResult()};
}
inline Term select(Term condition, Term x, double y) { return select(condition, x, x.splat(y)); }

// Reductions over `dims`; spread() repeats `x` along `dims` to the shape of `like`.
inline Term reduce(graph::Reduction kind, Term x, llvm::ArrayRef<int64_t> dims) {
  return {x.b, graph::buildReduce(*x.b, kind, x, dims)};
}
inline Term sum(Term x, llvm::ArrayRef<int64_t> dims) {
  return reduce(graph::Reduction::Sum, x, dims);
}
inline Term mean(Term x, llvm::ArrayRef<int64_t> dims) {
  return {x.b, graph::buildMean(*x.b, x, dims)};
}
inline Term spread(Term x, mlir::Value like, llvm::ArrayRef<int64_t> dims) {
  return {x.b, graph::buildBroadcastOver(*x.b, x, like, dims)};
}
inline Term cast(Term x, mlir::Type element) { return {x.b, graph::buildCast(*x.b, x, element)}; }

} // namespace cleave::autodiff
