// Views of all elements: other shapes, orders, repetitions of the same storage. Each says how it is
// read from its base and how a write to it changes the base.
#include "compiler/frontend/aten/MakeView.h"

#include "compiler/frontend/emit/Einsum.h"
#include "compiler/frontend/emit/Movement.h"
#include "dialects/graph/StopGradient.h"

#include <algorithm>
#include <set>

namespace cleave::aten {
namespace {

using emit::Emitter;

Results alias(OpCall &c) {
  auto same = [](Emitter &, Array x) { return x; };
  return rearranged(c, c["self"], same, same);
}

// Another tensor on the same storage, through which no gradient flows.
Results detach(OpCall &c) {
  auto write = [](Emitter &, Array part) { return part; };
  return rearranged(c, c["self"], stopped, write);
}
Results requiresGrad(OpCall &c) { return c.truth("requires_grad") ? alias(c) : detach(c); }

// -- shapes ---------------------------------------------------------------------------------------
// The elements under another shape. Positions along one dim stay such: two of them at right angles,
// as masks are made of, are then different values, which one kernel can compute.
Array reshapedElements(Emitter &e, Array x, const Shape &shape) {
  auto iota = x.getDefiningOp<graph::IotaOp>();
  if (!iota || rankOf(x) != 1 || shapeOf(x)[0] == Polynomial(1))
    return e.reshape(x, shape);
  auto dim = std::find(shape.begin(), shape.end(), shapeOf(x)[0]);
  if (dim == shape.end() || emit::product(shape) != *dim)
    return e.reshape(x, shape);
  return graph::IotaOp::create(e.b, e.loc, e.type(shape, elementTypeOf(x)), dim - shape.begin());
}

// As a view where PyTorch makes one, otherwise a copy.
Results reshaped(OpCall &c, const Value &self, const Shape &shape) {
  Array x = c.read(self);
  if (!self.tensor()->isDense())
    return c.e.reshape(x, shape);
  Shape before = shapeOf(x);
  return rearranged(
      c, self, [shape](Emitter &e, Array base) { return reshapedElements(e, base, shape); },
      [before](Emitter &e, Array part) { return e.reshape(part, before); });
}

Results reshapeTo(OpCall &c, const char *argument) {
  return reshaped(c, c["self"], emit::resolvedShape(c.e, c.tensor("self"), c.integers(argument)));
}
Results view(OpCall &c) { return reshapeTo(c, "size"); }
Results reshape(OpCall &c) { return reshapeTo(c, "shape"); }

Results reshapeAs(OpCall &c) { return reshaped(c, c["self"], shapeOf(c.tensor("other"))); }

Results flatten(OpCall &c) {
  Shape shape = shapeOf(c.tensor("self"));
  auto rank = static_cast<int64_t>(shape.size());
  if (rank == 0)
    return reshaped(c, c["self"], {1});
  int64_t first = c.dim("start_dim", rank), last = c.dim("end_dim", rank);
  if (first > last)
    fail("flattens from dim " + std::to_string(first) + " to dim " + std::to_string(last));
  Shape flat(shape.begin(), shape.begin() + first);
  flat.push_back(emit::product(llvm::ArrayRef(shape).slice(first, last - first + 1)));
  flat.insert(flat.end(), shape.begin() + last + 1, shape.end());
  return reshaped(c, c["self"], flat);
}

Results unflatten(OpCall &c) {
  Shape shape = shapeOf(c.tensor("self"));
  int64_t dim = c.dim("dim", static_cast<int64_t>(shape.size()));
  Shape parts = c.integers("sizes");
  auto open = std::find(parts.begin(), parts.end(), Polynomial(-1));
  if (open != parts.end()) {
    *open = 1;
    std::optional<Polynomial> rest = shape.at(dim).dividedBy(emit::product(parts));
    if (!rest)
      fail("cuts a dim of size " + shape[dim].str() + " into " + emit::showShape(parts));
    *open = *rest;
  }
  shape.erase(shape.begin() + dim);
  shape.insert(shape.begin() + dim, parts.begin(), parts.end());
  return reshaped(c, c["self"], shape);
}

Results squeeze(OpCall &c) {
  Shape shape = shapeOf(c.tensor("self")), out;
  Dims dims = c.dims("dim", static_cast<int64_t>(shape.size()));
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != Polynomial(1) || !llvm::is_contained(dims, static_cast<int64_t>(i)))
      out.push_back(shape[i]);
  return reshaped(c, c["self"], out);
}

// Strides other than those of the shape would show elements twice or leave some out.
Results asStrided(OpCall &c) {
  Shape shape = c.integers("size"), strides = c.integers("stride");
  Polynomial expected(1);
  bool isPlain = strides.size() == shape.size() &&
                 (!c.has("storage_offset") || c.integer("storage_offset") == Polynomial(0)) &&
                 emit::product(shape) == emit::product(shapeOf(c.tensor("self")));
  for (size_t i = shape.size(); isPlain && i-- > 0;) {
    isPlain = shape[i] == Polynomial(1) || strides[i] == expected;
    expected *= shape[i];
  }
  if (!isPlain)
    fail("shows its elements with the strides " + emit::showShape(strides) +
         ", which Cleave does not do");
  return reshaped(c, c["self"], shape);
}

Results unsqueeze(OpCall &c) {
  Shape shape = shapeOf(c.tensor("self"));
  int64_t dim = c.dim("dim", static_cast<int64_t>(shape.size()) + 1);
  shape.insert(shape.begin() + dim, 1);
  return reshaped(c, c["self"], shape);
}

// A copy only where the elements are not in order already.
Results contiguous(OpCall &c) {
  return c.handle("self")->isDense() ? Results(c["self"]) : Results(c.tensor("self"));
}

Results clone(OpCall &c) { return c.tensor("self"); }

// -- orders ---------------------------------------------------------------------------------------
Results permuted(OpCall &c, const Dims &permutation) {
  Dims inverse(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i)
    inverse[permutation[i]] = static_cast<int64_t>(i);
  bool isDense = std::is_sorted(permutation.begin(), permutation.end());
  return rearranged(
      c, c["self"],
      [permutation](Emitter &e, Array base) { return e.transpose(base, permutation); },
      [inverse](Emitter &e, Array part) { return e.transpose(part, inverse); }, isDense);
}

Results permute(OpCall &c) {
  int64_t rank = rankOf(c.tensor("self"));
  Dims permutation;
  for (int64_t dim : c.plainIntegers("dims"))
    permutation.push_back(c.e.axis(dim, rank, "dim"));
  Dims sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != emit::dimsFrom(0, rank))
    fail("permutes " + std::to_string(rank) + " dims by " + emit::showInts(permutation));
  return permuted(c, permutation);
}

Results swap(OpCall &c, int64_t a, int64_t b) {
  Dims permutation = emit::dimsFrom(0, rankOf(c.tensor("self")));
  std::swap(permutation[a], permutation[b]);
  return permuted(c, permutation);
}

Results swapNamed(OpCall &c, const char *first, const char *second) {
  int64_t rank = rankOf(c.tensor("self"));
  return rank == 0 ? permuted(c, {}) : swap(c, c.dim(first, rank), c.dim(second, rank));
}
Results transpose(OpCall &c) { return swapNamed(c, "dim0", "dim1"); }
Results swapAxes(OpCall &c) { return swapNamed(c, "axis0", "axis1"); }

Results transposeMatrix(OpCall &c) {
  int64_t rank = rankOf(c.tensor("self"));
  if (rank > 2)
    fail("transposes " + std::to_string(rank) + " dims, expected at most 2");
  return rank < 2 ? alias(c) : swap(c, 0, 1);
}

Results transposeLast(OpCall &c) {
  int64_t rank = rankOf(c.tensor("self"));
  if (rank < 2)
    fail("transposes " + std::to_string(rank) + " dims, expected at least 2");
  return swap(c, rank - 2, rank - 1);
}

Results reverseDims(OpCall &c) {
  Dims permutation = emit::dimsFrom(0, rankOf(c.tensor("self")));
  std::reverse(permutation.begin(), permutation.end());
  return permuted(c, permutation);
}

Results moveDims(OpCall &c) {
  int64_t rank = rankOf(c.tensor("self"));
  Dims from, to, permutation(rank, -1);
  for (int64_t dim : c.plainIntegers("source"))
    from.push_back(c.e.axis(dim, rank, "dim"));
  for (int64_t dim : c.plainIntegers("destination"))
    to.push_back(c.e.axis(dim, rank, "dim"));
  if (from.size() != to.size())
    fail("moves " + std::to_string(from.size()) + " dims to " + std::to_string(to.size()));
  for (const Dims &named : {from, to})
    if (std::set<int64_t>(named.begin(), named.end()).size() != named.size())
      fail("names a dim twice in " + emit::showInts(named));
  for (size_t i = 0; i < from.size(); ++i)
    permutation[to[i]] = from[i];
  int64_t next = 0;
  for (int64_t &place : permutation) {
    while (llvm::is_contained(from, next))
      ++next;
    if (place < 0)
      place = next++;
  }
  return permuted(c, permutation);
}

// -- repeated elements ----------------------------------------------------------------------------
Results expandTo(OpCall &c, Shape wanted) {
  Shape shape = shapeOf(c.tensor("self"));
  if (wanted.size() < shape.size())
    fail("expands " + emit::showShape(shape) + " to " + emit::showShape(wanted));
  size_t more = wanted.size() - shape.size();
  for (size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i] == Polynomial(-1) && i >= more)
      wanted[i] = shape[i - more];
  auto read = [wanted](Emitter &e, Array base) { return e.broadcast(base, wanted); };
  bool isSame = wanted == shape;
  std::function<Array(Emitter &, Array, Array)> write;
  if (isSame)
    write = [](Emitter &, Array, Array part) { return part; };
  return makeView(c, c["self"], read, write, isSame);
}

Results expand(OpCall &c) { return expandTo(c, c.integers("size")); }
Results expandAs(OpCall &c) { return expandTo(c, shapeOf(c.tensor("other"))); }

// The diagonal of two dims, as the last dim.
Results diagonal(OpCall &c) {
  Array x = c.tensor("self");
  int64_t rank = rankOf(x), offset = c.plainInteger("offset");
  int64_t a = c.dim("dim1", rank), b = c.dim("dim2", rank);
  if (a == b)
    fail("takes the diagonal of dim " + std::to_string(a) + " with itself");
  Dims order;
  for (int64_t i = 0; i < rank; ++i)
    if (i != a && i != b)
      order.push_back(i);
  order.insert(order.end(), {a, b});
  Array matrix = c.e.transpose(x, order);
  auto cutTo = [&](Array m, int64_t dim, const Polynomial &start) {
    return c.e.slice(m, dim, start, shapeOf(m)[dim] - start);
  };
  if (offset != 0)
    matrix = offset > 0 ? cutTo(matrix, rank - 1, offset)
                        : cutTo(matrix, rank - 2, Polynomial(0) - Polynomial(offset));
  Polynomial rows = shapeOf(matrix)[rank - 2], columns = shapeOf(matrix)[rank - 1];
  bool isWide = emit::compare(emit::Predicate::LE, {rows}, {columns}).value_or(true);
  matrix = c.e.slice(matrix, isWide ? rank - 1 : rank - 2, 0, isWide ? rows : columns);
  return emit::diagonal(c.e, matrix, rank - 2, rank - 1);
}

// Windows of one dim, as the last dim.
constexpr int64_t kMostParts = 4096; // each is an op
Results unfold(OpCall &c) {
  Array x = c.tensor("self");
  int64_t rank = rankOf(x), dim = c.dim("dimension", rank);
  int64_t size = c.plainInteger("size"), step = c.plainInteger("step");
  Polynomial total = shapeOf(x).at(dim);
  if (size < 1 || step < 1 || size > kMostParts)
    fail("has windows of " + std::to_string(size) + " elements every " + std::to_string(step));
  Polynomial count = (total - size).floorDividedBy(step) + Polynomial(1);
  emit::Values columns;
  for (int64_t i = 0; i < size; ++i)
    columns.push_back(c.e.insertDim(c.e.slice(x, dim, i, count, step), rank));
  return c.e.concat(columns, rank);
}

constexpr const char *kSelf = "T self";
constexpr const char *kSize = "T self, i[] size";

constexpr OpEntry kOps[] = {
    {"_reshape_alias", "T self, i[] size, i[] stride", view},
    {"_unsafe_view", kSize, view},
    {"adjoint", kSelf, transposeLast},
    {"alias", kSelf, alias},
    {"as_strided", "T self, i[] size, i[] stride, i? storage_offset=None", asStrided},
    {"clone", "T self, *, any memory_format=None", clone},
    {"contiguous", "T self, *, any memory_format=None", contiguous},
    {"detach", kSelf, detach},
    {"diagonal", "T self, i offset=0, i dim1=0, i dim2=1", diagonal},
    {"expand", "T self, i[] size, *, b implicit=False", expand},
    {"expand_as", "T self, T other", expandAs},
    {"flatten", "T self, i start_dim=0, i end_dim=-1", flatten},
    {"lift", kSelf, alias},
    {"lift_fresh", kSelf, alias},
    {"lift_fresh_copy", kSelf, clone},
    {"mH", kSelf, transposeLast},
    {"mT", kSelf, transposeLast},
    {"matrix_H", kSelf, transposeLast},
    {"movedim", "T self, i[] source, i[] destination", moveDims},
    {"moveaxis", "T self, i[] source, i[] destination", moveDims},
    {"numpy_T", kSelf, reverseDims},
    {"permute", "T self, i[] dims", permute},
    {"positive", kSelf, alias},
    {"requires_grad", "T self, b requires_grad=True", requiresGrad},
    {"reshape", "T self, i[] shape", reshape},
    {"reshape_as", "T self, T other", reshapeAs},
    {"squeeze", "T self, i[]? dim=None", squeeze},
    {"swapaxes", "T self, i axis0, i axis1", swapAxes},
    {"t", kSelf, transposeMatrix},
    {"transpose", "T self, i dim0, i dim1", transpose},
    {"unflatten", "T self, i dim, i[] sizes, any names=None", unflatten},
    {"unfold", "T self, i dimension, i size, i step", unfold},
    {"unsqueeze", "T self, i dim", unsqueeze},
    {"view", kSize, view},
    {"view_as", "T self, T other", reshapeAs},
};

} // namespace

Array stopped(emit::Emitter &e, Array array) {
  bool isConstant = array.getDefiningOp<graph::ConstantOp>() ||
                    array.getDefiningOp<graph::StopGradientOp>() || !isFloating(array);
  return isConstant ? array
                    : graph::StopGradientOp::create(e.b, e.loc, array.getType(), array).getResult();
}

llvm::ArrayRef<OpEntry> viewOps() { return kOps; }

} // namespace cleave::aten
