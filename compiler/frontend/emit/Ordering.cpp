// See Ordering.h.
#include "compiler/frontend/emit/Ordering.h"

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
