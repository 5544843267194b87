// See Random.h.
#include "compiler/frontend/emit/Random.h"

#include "compiler/frontend/emit/Ordering.h"
#include "dialects/graph/Random.h"

#include <numbers>

namespace cleave::emit {

using namespace graph;

Value uniform(const Emitter &e, const Sizes &dims, Value key, double low, double high) {
  e.type(dims, e.b.getF32Type()); // neither negative nor too large
  Value numbers = buildUniform(e.b, e.loc, dims, key);
  if (high - low != 1)
    numbers = e.mul(numbers, high - low);
  return low == 0 ? numbers : e.add(numbers, low);
}

// Box-Muller transform.
Value normal(const Emitter &e, const Sizes &dims, Value key, double mean, double deviation) {
  Value u = e.sub(1, uniform(e, dims, key)); // not 0
  Value radius = e.unary<SqrtOp>(e.mul(e.unary<LogOp>(u), -2));
  Value angle = uniform(e, dims, e.add(key, 1), 0, 2 * std::numbers::pi);
  Value numbers = e.mul(radius, e.unary<CosOp>(angle));
  if (deviation != 1)
    numbers = e.mul(numbers, deviation);
  return mean == 0 ? numbers : e.add(numbers, mean);
}

Value bernoulli(const Emitter &e, Value p, Value key) {
  e.checkFloat(p);
  return e.compare(Predicate::LT, uniform(e, shapeOf(p), key), e.cast(p, e.b.getF32Type()));
}

// Inverse transform sampling: the class of a number in [0, 1) is the number of cumulative weights
// up to it.
Value multinomial(const Emitter &e, Value logits, int64_t samples, Value key) {
  e.checkFloat(logits);
  Sizes dims = shapeOf(logits);
  if (dims.size() != 2 || samples < 1)
    fail("has logits ", showShape(dims), " and ", samples,
         " samples, expected [lines, classes] and at least 1");
  Value real = e.cast(logits, e.b.getF32Type());
  Value weights = SoftmaxOp::create(e.b, e.loc, real.getType(), real, 1);
  Value ends = cumulate(e, Reduction::Sum, weights, 1);
  Sizes all = {dims[0], samples, dims[1]};
  Value numbers = e.broadcast(e.insertDim(uniform(e, {dims[0], samples}, key), 2), all);
  Value before = e.compare(Predicate::LE, e.broadcast(e.insertDim(ends, 1), all), numbers);
  Value place = e.reduce(Reduction::Sum, e.cast(before, e.b.getI64Type()), {2});
  return e.min(place,
               e.splatSize(place, dims[1] - 1)); // the cumulative weight may end just below 1
}

Value drawOnes(const Emitter &e, const Sizes &dims, mlir::Type element, double p) {
  if (!(p >= 0 && p <= 1))
    fail("draws with the probability ", p, ", expected 0 to 1");
  Value ones = e.splat(dims, element, 1);
  return e.mul(dropout(e, ones, 1 - p), p);
}

Value dropout(const Emitter &e, Value x, double rate) {
  if (!(rate >= 0 && rate <= 1))
    fail("drops elements with probability ", rate, ", expected 0 to 1");
  if (rate == 0)
    return x;
  e.checkFloat(x);
  return DropoutOp::create(e.b, e.loc, x.getType(), x, Value(), e.b.getF64FloatAttr(rate));
}

} // namespace cleave::emit
