// See MatrixExponential.h. exp(x) = exp(x / 2^s)^(2^s), where x / 2^s is so small that a Taylor
// polynomial of degree 15 is exact up to rounding. s depends on the data, the number of steps does
// not: a step that a matrix does not need is computed and not chosen.
#include "compiler/frontend/emit/MatrixExponential.h"

#include "dialects/graph/StopGradient.h"

#include <cmath>
#include <limits>

namespace cleave::emit {

using namespace graph;

namespace {

constexpr int kSquarings = 12;       // the largest s
constexpr double kLargestNorm = 0.5; // of x / 2^s

// The sum of four terms of the series, from x^first / first! on, without the factor x^first.
Value fourTerms(const Emitter &e, const Values &powers, int first) {
  double factorial = 1;
  for (int i = 2; i <= first; ++i)
    factorial *= i;
  Value sum;
  for (int i = 0; i < 4; ++i) {
    Value term = e.mul(powers[i], 1 / factorial);
    sum = sum ? e.add(sum, term) : term;
    factorial *= first + i + 1;
  }
  return sum;
}

Value taylor(const Emitter &e, Value x, Value one) {
  Value square = buildMatmul(e.b, x, x);
  Values powers{one, x, square, buildMatmul(e.b, square, x)};
  Value fourth = buildMatmul(e.b, square, square), sum = fourTerms(e, powers, 12);
  for (int first = 8; first >= 0; first -= 4)
    sum = e.add(buildMatmul(e.b, sum, fourth), fourTerms(e, powers, first));
  return sum;
}

} // namespace

Value matrixExponential(const Emitter &e, Value x) {
  e.checkFloat(x);
  e.checkRank(x, 2);
  const Sizes dims = shapeOf(x);
  const int64_t rank = rankOf(x);
  if (dims[rank - 1] != dims[rank - 2])
    fail("has matrices ", showShape(dims), ", expected square ones");
  Value constant = StopGradientOp::create(e.b, e.loc, x.getType(), x);
  Value columns = e.reduce(Reduction::Sum, e.abs(constant), {rank - 2}, /*keep=*/true);
  Value norm = e.reduce(Reduction::Max, columns, {rank - 1}, /*keep=*/true); // [batch…, 1, 1]
  Value factor = e.splat(norm, 1);
  Values isNeeded; // by squaring
  for (int i = 0; i < kSquarings; ++i) {
    isNeeded.push_back(e.compare(Predicate::GT, norm, std::ldexp(kLargestNorm, i)));
    factor = e.select(isNeeded.back(), e.mul(factor, 0.5), factor);
  }
  Sizes matrix{dims[rank - 2], dims[rank - 1]};
  Value row = e.iota(matrix, 0, e.b.getI64Type()), column = e.iota(matrix, 1, e.b.getI64Type());
  Value one = e.broadcast(e.cast(e.compare(Predicate::EQ, row, column), elementOf(x)), dims);
  Value out = taylor(e, e.mul(x, e.broadcast(factor, dims)), one);
  for (Value needed : isNeeded)
    out = e.select(e.broadcast(needed, dims), buildMatmul(e.b, out, out), out);
  Value isTooLarge = e.compare(Predicate::GT, norm, std::ldexp(kLargestNorm, kSquarings));
  return e.select(e.broadcast(isTooLarge, dims),
                  e.splat(out, std::numeric_limits<double>::quiet_NaN()), out);
}

} // namespace cleave::emit
