// See Indexing.h.
#include "compiler/frontend/emit/Indexing.h"

#include "compiler/frontend/emit/Slicing.h"
#include "dialects/graph/StopGradient.h"

#include <algorithm>

namespace cleave::emit {

using namespace graph;

namespace {

// Whether no index can be negative: positions (iota) and known numbers.
bool isNeverNegative(const Emitter &e, Value indices) {
  if (indices.getDefiningOp<IotaOp>())
    return true;
  std::optional<SizeTensor> known = e.evaluator.sizes(indices);
  return known && std::all_of(known->elements.begin(), known->elements.end(), [](const auto &i) {
           return compare(Predicate::GE, i, {0}).value_or(false);
         });
}

} // namespace

Value countFromFront(const Emitter &e, Value indices, const Polynomial &size, bool neverNegative) {
  if (neverNegative || isNeverNegative(e, indices))
    return indices;
  Value negative = e.compare(Predicate::LT, indices, 0);
  return e.select(negative, e.add(indices, e.splatSize(indices, size)), indices);
}

Value gather(const Emitter &e, Value x, Value indices, int64_t dim, bool neverNegative) {
  e.checkInteger(indices, "indices");
  if (rankOf(indices) == 0)
    if (std::optional<SizeTensor> known = e.evaluator.sizes(indices))
      return takeOne(e, x, dim, known->elements[0].value);
  Sizes dims = shapeOf(x), at = shapeOf(indices);
  Sizes result(dims.begin(), dims.begin() + dim);
  result.insert(result.end(), at.begin(), at.end());
  result.insert(result.end(), dims.begin() + dim + 1, dims.end());
  e.type(result, elementOf(x));
  return e.gather(x, countFromFront(e, indices, dims[dim], neverNegative), dim);
}

Value embedding(const Emitter &e, Value table, Value indices, const EmbeddingGradient &gradient) {
  if (gradient.isScaled)
    fail("scales gradients by how often words occur (scale_grad_by_freq=True), which Cleave does "
         "not do");
  e.checkRank(table, 2);
  Value rows = gather(e, table, indices, 0, /*neverNegative=*/true);
  if (gradient.padding < 0)
    return rows;
  Value isPadding = e.compare(Predicate::EQ, indices, static_cast<double>(gradient.padding));
  isPadding = e.broadcast(e.insertDim(isPadding, rankOf(indices)), shapeOf(rows));
  return e.select(isPadding, StopGradientOp::create(e.b, e.loc, rows.getType(), rows), rows);
}

// Every position of the new dim is compared with the index.
Value oneHot(const Emitter &e, Value indices, const Polynomial &depth, int64_t axis, Value on,
             Value off) {
  e.checkInteger(indices, "indices");
  e.checkSameType(on, off);
  Sizes column = shapeOf(indices), full = column;
  column.insert(column.begin() + axis, Polynomial(1));
  full.insert(full.begin() + axis, depth);
  Value at = e.broadcast(e.reshape(countFromFront(e, indices, depth), column), full);
  Value hit = e.compare(Predicate::EQ, e.iota(full, axis, elementOf(indices)), at);
  off = e.broadcast(e.reshape(off, {}), full);
  on = e.broadcast(e.reshape(on, {}), full);
  return e.select(hit, on, off);
}

Value triangleMask(const Emitter &e, const Sizes &matrix, bool upper, const Polynomial &shift) {
  mlir::Type index = e.b.getI64Type();
  Value row = e.iota(matrix, 0, index), column = e.iota(matrix, 1, index);
  if (shift != Polynomial())
    row = e.add(row, e.splatSize(row, shift));
  return e.compare(upper ? Predicate::GE : Predicate::LE, column, row);
}

Value triangle(const Emitter &e, Value x, bool upper, const Polynomial &shift) {
  e.checkRank(x, 2);
  Sizes dims = shapeOf(x);
  Value keep = triangleMask(e, Sizes(dims.end() - 2, dims.end()), upper, shift);
  return e.select(e.broadcast(keep, dims), x, e.splat(x, 0));
}

Value maskedFill(const Emitter &e, Value x, Value mask, Value value) {
  e.checkBool(mask, "a mask");
  e.checkSameType(x, value);
  return e.select(e.broadcast(mask, shapeOf(x)), e.broadcast(value, shapeOf(x)), x);
}

Value range(const Emitter &e, const Polynomial &start, const Polynomial &count, int64_t step,
            mlir::Type element) {
  Value value = e.cast(e.iota({count}, 0, e.b.getI64Type()), element);
  if (step != 1)
    value = e.mul(value, static_cast<double>(step));
  if (start != Polynomial())
    value = e.add(value, e.splatSize(value, start));
  return value;
}

} // namespace cleave::emit
