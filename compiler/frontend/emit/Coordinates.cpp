// See Coordinates.h. All forms come down to one list of places: coordinates become one number, the
// dims that they speak of one dim.
#include "compiler/frontend/emit/Coordinates.h"

#include "compiler/frontend/emit/Indexing.h"

namespace cleave::emit {

using namespace graph;

// -- along one dim --------------------------------------------------------------------------------

static void checkElements(const Emitter &e, Value x, Value indices) {
  e.checkInteger(indices, "indices");
  if (rankOf(x) != rankOf(indices))
    fail("has indices ", showShape(shapeOf(indices)), " for data ", showShape(shapeOf(x)),
         ", expected as many dims");
}

Value gatherElements(const Emitter &e, Value x, Value indices, int64_t axis, bool neverNegative) {
  checkElements(e, x, indices);
  if (rankOf(x) == 0)
    return x;
  axis = e.axis(axis, rankOf(x));
  Sizes at = shapeOf(indices);
  for (int64_t d = 0; d < rankOf(x); ++d)
    if (d != axis)
      x = e.slice(x, d, 0, at[d]);
  Value places = countFromFront(e, indices, shapeOf(x)[axis], neverNegative);
  return buildGatherAlong(e.b, x, places, axis);
}

static Reduction reductionOf(Combine how) {
  switch (how) {
  case Combine::Mul:
    return Reduction::Prod;
  case Combine::Max:
    return Reduction::Max;
  case Combine::Min:
    return Reduction::Min;
  case Combine::Replace:
  case Combine::Add:
    break;
  }
  return Reduction::Sum;
}

// Combines x with updates of the same shape.
static Value combine(const Emitter &e, Value x, Value updates, Combine how) {
  switch (how) {
  case Combine::Mul:
    return e.mul(x, updates);
  case Combine::Max:
    return e.max(x, updates);
  case Combine::Min:
    return e.min(x, updates);
  case Combine::Replace:
  case Combine::Add:
    break;
  }
  return e.add(x, updates);
}

// Scatters updates along dim `dim` of x by `scatter(updates, indices)`, and combines them with x.
// An element of x that is as large (small) as the largest (smallest) updates is one of them, so
// that all share its gradient.
template <typename Scatter>
static Value combineScattered(const Emitter &e, Value x, Value updates, Value indices, int64_t dim,
                              Combine how, Scatter scatter) {
  bool sharesGradient = (how == Combine::Max || how == Combine::Min) && isFloat(x);
  if (!sharesGradient)
    return combine(e, x, scatter(updates, indices), how);
  int64_t indexDim = rankOf(indices) == 1 ? 0 : dim;
  Sizes own = rankOf(indices) == 1 ? Sizes{shapeOf(x)[dim]} : shapeOf(x);
  Value places = e.iota(own, indexDim, elementOf(indices));
  return scatter(e.concat({x, updates}, dim), e.concat({places, indices}, indexDim));
}

Value scatterElements(const Emitter &e, Value x, Value indices, Value updates, int64_t axis,
                      Combine how) {
  checkElements(e, x, indices);
  e.checkSameType(x, updates);
  Sizes dims = shapeOf(x), at = shapeOf(indices);
  if (shapeOf(updates) != at)
    fail("has updates ", showShape(shapeOf(updates)), " for indices ", showShape(at),
         ", expected the same shape");
  if (rankOf(x) == 0) {
    x = e.reshape(x, {1}), updates = e.reshape(updates, {1}), indices = e.reshape(indices, {1});
    return e.reshape(scatterElements(e, x, indices, updates, 0, how), {});
  }
  axis = e.axis(axis, rankOf(x));
  indices = countFromFront(e, e.cast(indices, e.b.getI64Type()), dims[axis]);
  for (int64_t d = 0; d < rankOf(x); ++d) {
    if (d == axis)
      continue;
    // Indices of places without an update are out of range.
    indices = e.pad(indices, d, 0, dims[d] - at[d], -1);
    updates = e.pad(updates, d, 0, dims[d] - at[d]);
  }
  auto scatter = [&](Value values, Value places) {
    return buildScatterAlong(e.b, reductionOf(how), values, places, axis, dims[axis]);
  };
  if (how != Combine::Replace)
    return combineScattered(e, x, updates, indices, axis, how, scatter);
  Value number = e.iota(shapeOf(indices), axis, e.b.getI64Type());
  Value last = buildScatterAlong(e.b, Reduction::Max, number, indices, axis, dims[axis]);
  Value written = e.compare(Predicate::GE, last, 0);
  return e.select(written, buildGatherAlong(e.b, updates, last, axis), x);
}

// -- at coordinates -------------------------------------------------------------------------------

Values coordinatesOf(const Emitter &e, Value indices) {
  e.checkInteger(indices, "indices");
  e.checkRank(indices, 1);
  int64_t last = rankOf(indices) - 1;
  int64_t count = e.number(shapeOf(indices)[last], "number of coordinates");
  if (count > static_cast<int64_t>(kMaxRank))
    fail("has indices ", showShape(shapeOf(indices)),
         ", expected fewer coordinates in the last dim");
  Values coordinates;
  for (int64_t i = 0; i < count; ++i)
    coordinates.push_back(e.dropDim(e.slice(indices, last, i, 1), last));
  return coordinates;
}

// The row-major index of the coordinates in the dims from `first` on.
static Value linearPosition(const Emitter &e, const Sizes &dims, const Values &coordinates,
                            int64_t first) {
  Value linear;
  for (auto [i, coordinate] : llvm::enumerate(coordinates)) {
    const Polynomial &size = dims[first + i];
    Value index = countFromFront(e, e.cast(coordinate, e.b.getI64Type()), size);
    linear = linear ? e.add(e.mul(linear, e.splatSize(linear, size)), index) : index;
  }
  return linear;
}

// Merges the dims of the coordinates.
static Sizes flattened(const Sizes &dims, int64_t first, size_t count) {
  Sizes flat(dims.begin(), dims.begin() + first);
  flat.push_back(product(llvm::ArrayRef<Polynomial>(dims).slice(first, count)));
  flat.insert(flat.end(), dims.begin() + first + count, dims.end());
  return flat;
}

static void checkCoordinates(const Sizes &dims, const Values &coordinates, int64_t first) {
  if (first + coordinates.size() > dims.size())
    fail("has ", coordinates.size(), " coordinates from dim ", first, " on of data ",
         showShape(dims));
}

Value gatherAt(const Emitter &e, Value x, Values coordinates, int64_t first, int64_t batch) {
  Sizes dims = shapeOf(x);
  checkCoordinates(dims, coordinates, first);
  if (coordinates.empty())
    return x;
  Value linear = linearPosition(e, dims, coordinates, first);
  Value flat = e.reshape(x, flattened(dims, first, coordinates.size()));
  return e.gather(flat, linear, first, batch);
}

Value scatterAt(const Emitter &e, Value x, Values coordinates, Value updates, int64_t first,
                Combine how) {
  Sizes dims = shapeOf(x);
  checkCoordinates(dims, coordinates, first);
  e.checkSameType(x, updates);
  if (coordinates.empty())
    return how == Combine::Replace ? updates : combine(e, x, updates, how);
  Value linear = linearPosition(e, dims, coordinates, first);
  Sizes at = shapeOf(linear), flat = flattened(dims, first, coordinates.size()), rows = flat;
  Polynomial count = product(at);
  rows[first] = count;
  Sizes expected(flat.begin(), flat.begin() + first);
  expected.insert(expected.end(), at.begin(), at.end());
  expected.insert(expected.end(), flat.begin() + first + 1, flat.end());
  if (shapeOf(updates) != expected)
    fail("has updates ", showShape(shapeOf(updates)), ", expected ", showShape(expected));
  updates = e.reshape(updates, rows);
  linear = e.reshape(linear, {count});
  Value table = e.reshape(x, flat);
  auto scatter = [&](Reduction kind, Value values, Value places, const Sizes &shape) -> Value {
    int64_t dim = shape.size() == 1 ? 0 : first;
    return ScatterOp::create(e.b, e.loc, e.type(shape, elementOf(values)), kind, values, places,
                             dim);
  };
  auto scatterRows = [&](Value values, Value places) {
    return scatter(reductionOf(how), values, places, flat);
  };
  if (how != Combine::Replace)
    return e.reshape(combineScattered(e, table, updates, linear, first, how, scatterRows), dims);
  Value last = scatter(Reduction::Max, e.iota({count}, 0, e.b.getI64Type()), linear, {flat[first]});
  Value written = e.compare(Predicate::GE, last, 0);
  Sizes column(flat.size(), Polynomial(1));
  column[first] = flat[first];
  Value rowsWritten = e.broadcast(e.reshape(written, column), flat);
  Value chosen = e.gather(updates, last, first);
  return e.reshape(e.select(rowsWritten, chosen, table), dims);
}

// -- sequences ------------------------------------------------------------------------------------

Value reverseSequence(const Emitter &e, Value x, Value lengths, int64_t time, int64_t batch) {
  e.checkInteger(lengths, "lengths");
  time = e.axis(time, rankOf(x));
  batch = e.axis(batch, rankOf(x));
  if (time == batch)
    fail("has one axis ", time, " for time and batch, expected two");
  Ints order = {batch, time};
  for (int64_t d = 0; d < rankOf(x); ++d)
    if (d != batch && d != time)
      order.push_back(d);
  Value lines = e.transpose(x, order);
  Sizes plane = {shapeOf(lines)[0], shapeOf(lines)[1]};
  Value position = e.iota(plane, 1, e.b.getI64Type());
  Value length = e.broadcast(e.reshape(e.cast(lengths, e.b.getI64Type()), {plane[0], 1}), plane);
  Value mirrored = e.sub(e.sub(length, 1), position);
  Value index = e.select(e.compare(Predicate::LT, position, length), mirrored, position);
  Value turned = e.gather(lines, index, 1, 1);
  Ints back(order.size());
  for (auto [i, dim] : llvm::enumerate(order))
    back[dim] = static_cast<int64_t>(i);
  return e.transpose(turned, back);
}

} // namespace cleave::emit
