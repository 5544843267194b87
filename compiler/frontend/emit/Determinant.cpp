// See Determinant.h.
#include "compiler/frontend/emit/Determinant.h"

#include "compiler/frontend/emit/Ordering.h"

namespace cleave::emit {

using namespace graph;

namespace {

constexpr int64_t kMaxRows = 64;

// One step of the elimination: removes the row with the largest first element, and the first column
// of the rest.
struct Step {
  Value factor; // of the determinant, [batch]
  Value rest;   // [batch, rows - 1, rows - 1]; null after the last step
};

Step eliminate(const Emitter &e, Value matrix) {
  Sizes dims = shapeOf(matrix);
  int64_t rows = *dims[1].constant();
  Value first = e.dropDim(e.slice(matrix, 2, 0, 1), 2); // [batch, rows]
  Value place = argMinMax(e, e.abs(first), 1, /*largest=*/true, /*keep=*/true);
  Value at = e.iota({dims[0], rows}, 1, e.b.getI64Type());
  Value isPivot = e.compare(Predicate::EQ, at, e.broadcast(place, {dims[0], rows}));
  Value pivotMask = e.broadcast(e.insertDim(isPivot, 2), dims);
  Value zero = e.splat(matrix, 0);
  Value row = e.reduce(Reduction::Sum, e.select(pivotMask, matrix, zero), {1}); // [batch, rows]
  Value pivot = e.dropDim(e.slice(row, 1, 0, 1), 1);
  Value isFirst = e.compare(Predicate::EQ, e.dropDim(place, 1), 0);
  Value factor = e.select(isFirst, pivot, e.neg(pivot));
  if (rows == 1)
    return {factor, {}};
  // The first row takes the pivot's place.
  Value swapped = e.select(pivotMask, e.broadcast(e.slice(matrix, 1, 0, 1), dims), matrix);
  Value rest = e.slice(swapped, 1, 1, rows - 1);
  Sizes small = {dims[0], rows - 1, rows - 1};
  Value safe = e.select(e.compare(Predicate::EQ, pivot, 0), e.splat(pivot, 1), pivot);
  Value scaled =
      e.div(e.slice(row, 1, 1, rows - 1), e.broadcast(e.insertDim(safe, 1), {dims[0], rows - 1}));
  Value column = e.broadcast(e.slice(rest, 2, 0, 1), small);
  Value taken = e.mul(column, e.broadcast(e.insertDim(scaled, 1), small));
  return {factor, e.sub(e.slice(rest, 2, 1, rows - 1), taken)};
}

} // namespace

Value determinant(const Emitter &e, Value x) {
  e.checkFloat(x);
  e.checkRank(x, 2);
  Sizes dims = shapeOf(x), batch(dims.begin(), dims.end() - 2);
  int64_t rows = e.number(dims.back(), "number of columns");
  if (dims[dims.size() - 2] != Polynomial(rows) || rows < 1 || rows > kMaxRows)
    fail("has matrices ", showShape(dims), ", expected square ones of 1 to ", kMaxRows, " rows");
  Step step{{}, e.reshape(x, {product(batch), rows, rows})};
  Value result;
  while (step.rest) {
    step = eliminate(e, step.rest);
    result = result ? e.mul(result, step.factor) : step.factor;
  }
  return e.reshape(result, batch);
}

} // namespace cleave::emit
