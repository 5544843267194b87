// See Ordering.h.
#include "compiler/frontend/emit/Ordering.h"

#include "compiler/frontend/emit/Elementwise.h"

namespace cleave::emit {

using namespace graph;

Ordered sort(const Emitter &e, Value x, int64_t axis, bool descending) {
  if (rankOf(x) == 0)
    return {x, e.scalar(e.b.getI64Type(), 0)};
  auto op = SortOp::create(e.b, e.loc, x, e.axis(axis, rankOf(x)), descending);
  return {op.getValues(), op.getIndices()};
}

Ordered topK(const Emitter &e, Value x, const Polynomial &k, int64_t axis, bool largest) {
  if (rankOf(x) == 0)
    return sort(e, x, 0, largest);
  axis = e.axis(axis, rankOf(x));
  Ordered all = sort(e, x, axis, largest);
  return {e.slice(all.values, axis, 0, k), e.slice(all.indices, axis, 0, k)};
}

Value argMinMax(const Emitter &e, Value x, int64_t axis, bool largest, bool keep, bool last) {
  mlir::Type integer = e.b.getI64Type();
  if (rankOf(x) == 0)
    return e.scalar(integer, 0);
  axis = e.axis(axis, rankOf(x));
  Value best = e.reduce(largest ? Reduction::Max : Reduction::Min, x, {axis}, true);
  Value chosen = e.compare(Predicate::EQ, x, e.broadcast(best, shapeOf(x)));
  if (isFloat(x))
    chosen = OrOp::create(e.b, e.loc, chosen, e.compare(Predicate::NE, x, x));
  Value position = e.iota(shapeOf(x), axis, integer);
  Value nowhere = last ? e.splat(position, -1) : e.splatSize(position, shapeOf(x)[axis]);
  Value candidate = e.select(chosen, position, nowhere);
  return e.reduce(last ? Reduction::Max : Reduction::Min, candidate, {axis}, keep);
}

Value chosenExtreme(const Emitter &e, Value x, int64_t axis, bool largest) {
  return buildGatherAlong(e.b, x, argMinMax(e, x, axis, largest, /*keep=*/true), axis);
}

static double neutralOf(Reduction kind) { return kind == Reduction::Prod ? 1 : 0; }

Value cumulate(const Emitter &e, Reduction kind, Value x, int64_t axis, bool exclusive,
               bool reverse) {
  if (rankOf(x) == 0)
    return exclusive ? e.splat(x, neutralOf(kind)) : x;
  axis = e.axis(axis, rankOf(x));
  if (reverse)
    x = e.reverse(x, axis);
  Value sums = ScanOp::create(e.b, e.loc, kind, x, axis);
  if (exclusive) {
    Polynomial size = shapeOf(x)[axis];
    sums = e.slice(e.pad(sums, axis, 1, 0, neutralOf(kind)), axis, 0, size);
  }
  return reverse ? e.reverse(sums, axis) : sums;
}

// log(exp(x) + exp(y)) without overflow.
static Value addedExponents(const Emitter &e, Value x, Value y) {
  Value isSame = e.compare(Predicate::EQ, x, y); // also two infinities
  Value apart = e.abs(e.select(isSame, e.splat(x, 0), e.sub(x, y)));
  return e.add(e.max(x, y), logOnePlus(e, e.unary<ExpOp>(e.neg(apart))));
}

// In steps that double: after each, an element has the sum of as many elements, itself the last.
Value cumulateLogSumExp(const Emitter &e, Value x, int64_t axis) {
  const int64_t size = e.number(shapeOf(x)[axis], "number of summed elements");
  for (int64_t step = 1; step < size; step *= 2) {
    Value before = e.slice(x, axis, 0, size - step), rest = e.slice(x, axis, step, size - step);
    x = e.concat({e.slice(x, axis, 0, step), addedExponents(e, before, rest)}, axis);
  }
  return x;
}

Ordered cumulateMinMax(const Emitter &e, Value x, int64_t axis, bool largest) {
  if (rankOf(x) == 0)
    return {x, e.scalar(e.b.getI64Type(), 0)};
  axis = e.axis(axis, rankOf(x));
  Value best = cumulate(e, largest ? Reduction::Max : Reduction::Min, x, axis);
  Value position = e.iota(shapeOf(x), axis, e.b.getI64Type());
  Value reached = e.select(e.compare(Predicate::EQ, x, best), position, e.splat(position, -1));
  return {best, cumulate(e, Reduction::Max, reached, axis)};
}

} // namespace cleave::emit
