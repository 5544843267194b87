// Views of all elements: other shapes, orders, repetitions of the same storage. Each defines the
// map from its base and the inverse for writes.
#include "compiler/frontend/aten/MakeView.h"

#include "compiler/frontend/emit/Movement.h"
#include "dialects/graph/StopGradient.h"

#include <algorithm>
#include <set>

namespace cleave::aten {
namespace {

using emit::Emitter;

constexpr auto kSameStrides = [](std::vector<Polynomial> &) {};

Results alias(OpCall &c) {
  auto same = [](Emitter &, Array x) { return x; };
  return rearranged(c, c["self"], same, same, kSameStrides);
}

// A tensor on the same storage without a gradient; writes to it do not change the gradient of the
// base.
Results detach(OpCall &c) { return makeView(c, c["self"], stopped, withGradientOf, kSameStrides); }
Results requiresGrad(OpCall &c) { return c.boolean("requires_grad") ? alias(c) : detach(c); }

// -- shapes ---------------------------------------------------------------------------------------
// The elements with another shape. Positions along one dim (iota) are rebuilt instead of reshaped:
// row and column positions, from which masks are computed, are then different ops that fuse into
// one kernel.
Array reshapedElements(Emitter &e, Array x, const Sizes &shape) {
  auto iota = x.getDefiningOp<graph::IotaOp>();
  if (!iota || rankOf(x) != 1 || shapeOf(x)[0] == Polynomial(1))
    return e.reshape(x, shape);
  auto dim = std::find(shape.begin(), shape.end(), shapeOf(x)[0]);
  if (dim == shape.end() || emit::product(shape) != *dim)
    return e.reshape(x, shape);
  return graph::IotaOp::create(e.b, e.loc, e.type(shape, elementTypeOf(x)), dim - shape.begin());
}

// A view with another shape and these strides.
IValue reshapedView(OpCall &c, const IValue &self, const Sizes &shape, const Strides &strides) {
  Sizes before = shapeOf(c.read(self));
  auto read = [shape](Emitter &e, Array base) { return reshapedElements(e, base, shape); };
  auto write = [before](Emitter &e, Array, Array part) { return e.reshape(part, before); };
  return TensorState::viewOf(self.tensor(), read(c.e, c.read(self)), {read, write}, strides);
}

Strides stridesFor(OpCall &c, const IValue &self, const Sizes &shape) {
  Array x = c.read(self);
  Strides strides = self.tensor()->strides(c.e);
  return strides ? reshapedStrides(shapeOf(x), *strides, shape) : std::nullopt;
}

// A view of the same memory with another shape.
Results viewed(OpCall &c, const IValue &self, const Sizes &shape) {
  return reshapedView(c, self, shape, stridesFor(c, self, shape));
}

// A copy. If it is unknown whether PyTorch copies, both may share memory
// (TensorState::mayShareWith).
Results copied(OpCall &c, const IValue &self, Array elements, bool isKnown) {
  TensorRef out = TensorState::create(elements);
  if (!isKnown)
    out->mayShareWith(*self.tensor());
  return IValue(out);
}

// A view where PyTorch makes one, else a copy.
Results reshaped(OpCall &c, const IValue &self, const Sizes &shape) {
  Array x = c.read(self);
  if (Strides strides = stridesFor(c, self, shape))
    return reshapedView(c, self, shape, strides);
  bool isKnown = self.tensor()->strides(c.e).has_value();
  Results out = copied(c, self, c.e.reshape(x, shape), isKnown);
  if (!isKnown)
    out.values[0].tensor()->forgetStrides();
  return out;
}

Sizes shapeIn(OpCall &c, const char *argument) {
  return emit::resolvedShape(c.e, c.tensor("self"), c.integers(argument));
}
Results view(OpCall &c) { return viewed(c, c["self"], shapeIn(c, "size")); }
Results viewAs(OpCall &c) { return viewed(c, c["self"], shapeOf(c.tensor("other"))); }
Results reshape(OpCall &c) { return reshaped(c, c["self"], shapeIn(c, "shape")); }
Results reshapeAs(OpCall &c) { return reshaped(c, c["self"], shapeOf(c.tensor("other"))); }
Results ravel(OpCall &c) {
  return reshaped(c, c["self"], {emit::product(shapeOf(c.tensor("self")))});
}

Results flatten(OpCall &c) {
  Sizes shape = shapeOf(c.tensor("self"));
  auto rank = static_cast<int64_t>(shape.size());
  if (rank == 0)
    return reshaped(c, c["self"], {1});
  int64_t first = c.dim("start_dim", rank), last = c.dim("end_dim", rank);
  if (first > last)
    fail("flattens from dim ", first, " to dim ", last);
  Sizes flat(shape.begin(), shape.begin() + first);
  flat.push_back(emit::product(shape.dropFront(first).take_front(last - first + 1)));
  flat.insert(flat.end(), shape.begin() + last + 1, shape.end());
  return reshaped(c, c["self"], flat);
}

Results unflatten(OpCall &c) {
  Sizes shape = shapeOf(c.tensor("self"));
  int64_t dim = c.dim("dim", static_cast<int64_t>(shape.size()));
  Sizes parts = c.integers("sizes");
  auto open = std::find(parts.begin(), parts.end(), Polynomial(-1));
  if (open != parts.end()) {
    *open = 1;
    std::optional<Polynomial> rest = shape[dim].dividedBy(emit::product(parts));
    if (!rest)
      fail("cuts a dim of size ", shape[dim].str(), " into ", emit::showShape(parts));
    *open = *rest;
  }
  shape.erase(shape.begin() + dim);
  shape.insert(shape.begin() + dim, parts.begin(), parts.end());
  return viewed(c, c["self"], shape);
}

Results squeeze(OpCall &c) {
  Sizes shape = shapeOf(c.tensor("self")), out;
  if (c["dim"].isList() && c["dim"].items().empty())
    return alias(c);
  Ints dims = c.dims("dim", static_cast<int64_t>(shape.size()));
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != Polynomial(1) || !llvm::is_contained(dims, static_cast<int64_t>(i)))
      out.push_back(shape[i]);
  return viewed(c, c["self"], out);
}

// Other strides than those of the shape would repeat or skip elements.
Results asStrided(OpCall &c) {
  Sizes shape = c.integers("size"), strides = c.integers("stride");
  Polynomial expected(1);
  bool isPlain = strides.size() == shape.size() &&
                 (!c.has("storage_offset") || c.integer("storage_offset") == Polynomial(0)) &&
                 emit::product(shape) == emit::product(shapeOf(c.tensor("self")));
  for (size_t i = shape.size(); isPlain && i-- > 0;) {
    isPlain = shape[i] == Polynomial(1) || strides[i] == expected;
    expected *= shape[i];
  }
  if (!isPlain)
    fail("shows its elements with the strides ", emit::showShape(strides),
         ", which Cleave does not do");
  return viewed(c, c["self"], shape);
}

Results unsqueeze(OpCall &c) {
  Sizes shape = shapeOf(c.tensor("self"));
  int64_t dim = c.dim("dim", static_cast<int64_t>(shape.size()) + 1);
  shape.insert(shape.begin() + dim, 1);
  return viewed(c, c["self"], shape);
}

// Copies only if the elements are not contiguous.
Results contiguous(OpCall &c) {
  if (c.handle("self")->number())
    return c["self"];
  std::optional<bool> isDense = c.handle("self")->isDense(c.e);
  if (isDense == true)
    return c["self"];
  return copied(c, c["self"], c.tensor("self"), isDense.has_value());
}

Results clone(OpCall &c) { return c.tensor("self"); }

// -- orders ---------------------------------------------------------------------------------------
Results permuted(OpCall &c, const Ints &permutation) {
  Ints inverse(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i)
    inverse[permutation[i]] = static_cast<int64_t>(i);
  return rearranged(
      c, c["self"],
      [permutation](Emitter &e, Array base) { return e.transpose(base, permutation); },
      [inverse](Emitter &e, Array part) { return e.transpose(part, inverse); },
      [permutation](std::vector<Polynomial> &strides) {
        std::vector<Polynomial> before = strides;
        for (size_t i = 0; i < permutation.size(); ++i)
          strides[i] = before[permutation[i]];
      });
}

Results permute(OpCall &c) {
  int64_t rank = rankOf(c.tensor("self"));
  Ints permutation;
  for (int64_t dim : c.plainIntegers("dims"))
    permutation.push_back(c.e.axis(dim, rank, "dim"));
  Ints sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != emit::dimsFrom(0, rank))
    fail("permutes ", rank, " dims by ", emit::showInts(permutation));
  return permuted(c, permutation);
}

Results swap(OpCall &c, int64_t a, int64_t b) {
  Ints permutation = emit::dimsFrom(0, rankOf(c.tensor("self")));
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
    fail("transposes ", rank, " dims, expected at most 2");
  return rank < 2 ? alias(c) : swap(c, 0, 1);
}

Results transposeLast(OpCall &c) {
  int64_t rank = rankOf(c.tensor("self"));
  if (rank < 2)
    fail("transposes ", rank, " dims, expected at least 2");
  return swap(c, rank - 2, rank - 1);
}

Results reverseDims(OpCall &c) {
  Ints permutation = emit::dimsFrom(0, rankOf(c.tensor("self")));
  std::reverse(permutation.begin(), permutation.end());
  return permuted(c, permutation);
}

Results moveDims(OpCall &c) {
  int64_t rank = rankOf(c.tensor("self"));
  Ints from, to, permutation(rank, -1);
  for (int64_t dim : c.plainIntegers("source"))
    from.push_back(c.e.axis(dim, rank, "dim"));
  for (int64_t dim : c.plainIntegers("destination"))
    to.push_back(c.e.axis(dim, rank, "dim"));
  if (from.size() != to.size())
    fail("moves ", from.size(), " dims to ", to.size());
  for (const Ints &named : {from, to})
    if (std::set<int64_t>(named.begin(), named.end()).size() != named.size())
      fail("names a dim twice in ", emit::showInts(named));
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

// Adds dims of size 1 up to a minimum rank: at the front, the third at the end.
template <int64_t least> Results atLeast(OpCall &c) {
  Sizes shape = shapeOf(c.tensor("self"));
  while (static_cast<int64_t>(shape.size()) < std::min<int64_t>(least, 2))
    shape.insert(shape.begin(), 1);
  if (least == 3 && shape.size() == 2)
    shape.push_back(1);
  return viewed(c, c["self"], shape);
}

// -- repeated elements ----------------------------------------------------------------------------
Results expandTo(OpCall &c, Sizes wanted) {
  Sizes shape = shapeOf(c.tensor("self"));
  if (wanted.size() < shape.size())
    fail("expands ", emit::showShape(shape), " to ", emit::showShape(wanted));
  size_t more = wanted.size() - shape.size();
  for (size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i] == Polynomial(-1) && i >= more)
      wanted[i] = shape[i - more];
  auto read = [wanted](Emitter &e, Array base) { return e.broadcast(base, wanted); };
  std::function<Array(Emitter &, Array, Array)> write;
  if (emit::product(wanted) == emit::product(shape)) // no element is repeated
    write = [shape](Emitter &e, Array, Array part) { return e.reshape(part, shape); };
  return makeView(c, c["self"], read, write, [&](std::vector<Polynomial> &strides) {
    for (size_t i = 0; i < shape.size(); ++i)
      if (shape[i] != wanted[more + i])
        strides[i] = 0;
    strides.insert(strides.begin(), more, Polynomial(0));
  });
}

Results expand(OpCall &c) { return expandTo(c, c.integers("size")); }
Results expandAs(OpCall &c) { return expandTo(c, shapeOf(c.tensor("other"))); }

// Windows of one dim, as the last dim.
constexpr int64_t kMostParts = 4096; // each is an op
Results unfold(OpCall &c) {
  Array x = c.tensor("self");
  int64_t rank = rankOf(x), dim = c.dim("dimension", rank);
  int64_t size = c.plainInteger("size"), step = c.plainInteger("step");
  Polynomial total = shapeOf(x)[dim];
  if (size < 1 || step < 1 || size > kMostParts)
    fail("has windows of ", size, " elements every ", step);
  if (total.constant().value_or(size) < size)
    fail("has windows of ", size, " elements in a dim of size ", total.str());
  Polynomial count = (total - size).floorDividedBy(step) + Polynomial(1);
  auto read = [=](Emitter &e, Array base) {
    emit::Values columns;
    for (int64_t i = 0; i < size; ++i)
      columns.push_back(e.insertDim(e.slice(base, dim, i, count, step), rank));
    return e.concat(columns, rank);
  };
  return makeView(c, c["self"], read, nullptr, [&](std::vector<Polynomial> &strides) {
    strides.push_back(strides[dim]);
    strides[dim] *= Polynomial(step);
  });
}

constexpr const char *kViewed = "T self";
constexpr const char *kViewSize = "T self, i[] size";

constexpr OpEntry kViewOps[] = {
    {"_reshape_alias", "T self, i[] size, i[] stride", view},
    {"_unsafe_view", kViewSize, view},
    {"adjoint", kViewed, transposeLast},
    {"alias", kViewed, alias},
    {"as_strided", "T self, i[] size, i[] stride, i? storage_offset=None", asStrided},
    {"clone", "T self, *, any memory_format=None", clone},
    {"contiguous", "T self, *, any memory_format=None", contiguous},
    {"detach", kViewed, detach},
    {"atleast_1d", kViewed, atLeast<1>},
    {"atleast_2d", kViewed, atLeast<2>},
    {"atleast_3d", kViewed, atLeast<3>},
    {"broadcast_to", kViewSize, expand},
    {"expand", "T self, i[] size, *, b implicit=False", expand},
    {"expand_as", "T self, T other", expandAs},
    {"flatten", "T self, i start_dim=0, i end_dim=-1", flatten},
    {"lift", kViewed, alias},
    {"lift_fresh", kViewed, alias},
    {"lift_fresh_copy", kViewed, clone},
    {"mH", kViewed, transposeLast},
    {"mT", kViewed, transposeLast},
    {"matrix_H", kViewed, transposeLast},
    {"movedim", "T self, i[] source, i[] destination", moveDims},
    {"moveaxis", "T self, i[] source, i[] destination", moveDims},
    {"numpy_T", kViewed, reverseDims},
    {"permute", "T self, i[] dims", permute},
    {"positive", kViewed, alias},
    {"prim::data", kViewed, detach},
    {"ravel", kViewed, ravel},
    {"requires_grad", "T self, b requires_grad=True", requiresGrad},
    {"reshape", "T self, i[] shape", reshape},
    {"reshape_as", "T self, T other", reshapeAs},
    {"squeeze", "T self, i[]? dim=None", squeeze},
    {"swapaxes", "T self, i axis0, i axis1", swapAxes},
    {"t", kViewed, transposeMatrix},
    {"transpose", "T self, i dim0, i dim1", transpose},
    {"unflatten", "T self, i dim, i[] sizes, any names=None", unflatten},
    {"unfold", "T self, i dimension, i size, i step", unfold},
    {"unsqueeze", "T self, i dim", unsqueeze},
    {"view", kViewSize, view},
    {"view_as", "T self, T other", viewAs},
};

} // namespace

Array stopped(emit::Emitter &e, Array array) {
  bool isConstant = array.getDefiningOp<graph::ConstantOp>() ||
                    array.getDefiningOp<graph::StopGradientOp>() || !isFloating(array);
  return isConstant ? array
                    : graph::StopGradientOp::create(e.b, e.loc, array.getType(), array).getResult();
}

llvm::ArrayRef<OpEntry> viewOps() { return kViewOps; }

} // namespace cleave::aten
