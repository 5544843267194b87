// See Contraction.h.
#include "compiler/frontend/emit/Contraction.h"

namespace cleave::emit {

using namespace graph;

namespace {

void checkContracted(const Sizes &a, int64_t i, const Sizes &c, int64_t j) {
  if (a[i] == c[j])
    return;
  Polynomial difference = a[i] - c[j];
  fail("multiplies shapes ", showShape(a), " and ", showShape(c), ": dim ", i, " of size ",
       a[i].str(), " and dim ", j, " of size ", c[j].str(), " should be equal",
       (difference.isConstant() ? "" : ", which " + dependsOnSymbols(difference.symbols())));
}

Value scaled(const Emitter &e, Value value, double factor) {
  return factor == 1 ? value : e.mul(value, factor);
}

} // namespace

Value dot(const Emitter &e, Value lhs, Value rhs, int64_t batch, int64_t lhsDim, int64_t rhsDim) {
  checkContracted(shapeOf(lhs), lhsDim, shapeOf(rhs), rhsDim);
  Ints dims = dimsFrom(0, batch);
  Value result = DotGeneralOp::create(e.b, e.loc, lhs, rhs, dims, dims, Ints{lhsDim}, Ints{rhsDim});
  e.type(shapeOf(result), elementOf(result));
  return result;
}

Value matmul(const Emitter &e, Value lhs, Value rhs) {
  e.checkSameType(lhs, rhs);
  Sizes a = shapeOf(lhs), c = shapeOf(rhs);
  if (a.empty() || c.empty())
    fail("multiplies shapes ", showShape(a), " and ", showShape(c),
         ", expected at least one dim each");
  auto last = static_cast<int64_t>(a.size()) - 1;
  int64_t contracted = c.size() == 1 ? 0 : static_cast<int64_t>(c.size()) - 2;
  checkContracted(a, last, c, contracted);
  // A matrix or vector on the right applies to all batch dims of the left.
  if (c.size() <= 2)
    return dot(e, lhs, rhs, 0, last, contracted);
  bool vector = a.size() == 1;
  if (vector)
    lhs = e.reshape(lhs, a = {Polynomial(1), a[0]});
  Sizes batch = broadcastShape(Sizes(a.begin(), a.end() - 2), Sizes(c.begin(), c.end() - 2));
  auto withBatch = [&](const Sizes &dims) {
    Sizes out = batch;
    out.insert(out.end(), dims.end() - 2, dims.end());
    return out;
  };
  lhs = e.broadcast(lhs, withBatch(a));
  rhs = e.broadcast(rhs, withBatch(c));
  auto rank = static_cast<int64_t>(batch.size());
  Value result = dot(e, lhs, rhs, rank, rank + 1, rank);
  return vector ? e.dropDim(result, rank) : result;
}

Value gemm(const Emitter &e, Value lhs, Value rhs, Value summand, const GemmOptions &options) {
  e.checkSameType(lhs, rhs);
  if (rankOf(lhs) != 2 || rankOf(rhs) != 2)
    fail("multiplies shapes ", showShape(shapeOf(lhs)), " and ", showShape(shapeOf(rhs)),
         ", expected 2 dims each");
  Value product = dot(e, lhs, rhs, 0, options.transposeLhs ? 0 : 1, options.transposeRhs ? 1 : 0);
  Value result = scaled(e, product, options.alpha);
  if (!summand || options.beta == 0)
    return result;
  e.checkSameType(result, summand);
  return e.add(result, e.broadcast(scaled(e, summand, options.beta), shapeOf(result)));
}

Value linear(const Emitter &e, Value x, Value weight, Value bias) {
  e.checkSameType(x, weight);
  e.checkRank(x, 1);
  if (rankOf(weight) == 1) // one output, without a dim of its own
    return matmul(e, x, weight);
  if (rankOf(weight) != 2)
    fail("has a weight ", showShape(shapeOf(weight)), ", expected 2 dims");
  Value result = dot(e, x, weight, 0, rankOf(x) - 1, 1);
  if (!bias)
    return result;
  e.checkSameType(result, bias);
  return e.add(result, e.broadcast(bias, shapeOf(result)));
}

Value addMatmul(const Emitter &e, Value summand, Value lhs, Value rhs, double beta, double alpha) {
  Value product = scaled(e, matmul(e, lhs, rhs), alpha);
  if (beta == 0)
    return product;
  e.checkSameType(product, summand);
  return e.add(e.broadcast(scaled(e, summand, beta), shapeOf(product)), product);
}

Value groupedMatmul(const Emitter &e, Value x, Value weights, Value ends) {
  e.checkSameType(x, weights);
  e.checkInteger(ends, "ends of groups");
  if (rankOf(x) != 2 || rankOf(weights) != 3 || rankOf(ends) != 1 ||
      e.dim(ends, 0) != e.dim(weights, 0))
    fail("multiplies rows ", showShape(shapeOf(x)), " by ", showShape(shapeOf(weights)),
         " in groups that end at ", showShape(shapeOf(ends)),
         ", expected [rows, in], [groups, in, out] and [groups]");
  checkContracted(shapeOf(x), 1, shapeOf(weights), 1);
  if (!elementOf(ends).isSignlessInteger(32))
    ends = e.cast(ends, e.b.getI64Type());
  Value result = GroupedMatmulOp::create(e.b, e.loc, x, weights, ends);
  e.type(shapeOf(result), elementOf(result)); // fails if it is too large
  return result;
}

} // namespace cleave::emit
