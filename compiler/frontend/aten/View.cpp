// Views of all elements: other shapes, orders, repetitions of the same storage. Each defines the
// map from its base and the inverse for writes.
#include "compiler/frontend/aten/MakeView.h"

#include "compiler/frontend/emit/Coordinates.h"
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

Results itself(OpCall &c) { return c["self"]; }
Results detach(OpCall &c) { return IValue(TensorState::detached(c.e, c.handle("self"))); }
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
// The bits of the elements as another type.
Results viewAsType(OpCall &c) {
  ElementType from = typeOf(c.tensor("self"));
  std::optional<ElementType> to = c.dtype();
  if (to == from)
    return alias(c);
  const std::string &name = c.handle("self")->storage()->name;
  fail("shows the bits of ", emit::typeName(from), (name.empty() ? "" : " of '" + name + "'"),
       " as ", emit::typeName(*to), ", which Cleave does not do; convert the numbers (to)");
}
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
  if (first == last)
    return c["self"];
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

// -- strides --------------------------------------------------------------------------------------
// Which elements of memory a tensor shows.
struct Window {
  Sizes shape, strides;
  Polynomial offset;
};

// The place in memory of each element.
Array placesOf(Emitter &e, const Window &w) {
  mlir::Type integer = e.b.getI64Type();
  Array places = e.broadcast(e.size(w.offset), w.shape);
  for (size_t i = 0; i < w.shape.size(); ++i)
    if (w.shape[i] != Polynomial(1) && w.strides[i] != Polynomial(0)) {
      Array number = e.iota(w.shape, static_cast<int64_t>(i), integer);
      places = e.add(places, e.mul(number, e.splatSize(number, w.strides[i])));
    }
  return places;
}

// Whether no place is shown twice: each stride is larger than what the smaller ones span.
bool isInjective(const Window &w) {
  std::vector<std::pair<int64_t, int64_t>> dims; // stride, size
  for (size_t i = 0; i < w.shape.size(); ++i)
    if (w.shape[i] != Polynomial(1)) {
      std::optional<int64_t> stride = w.strides[i].constant(), size = w.shape[i].constant();
      if (!stride || !size)
        return false;
      dims.emplace_back(*stride, *size);
    }
  std::sort(dims.begin(), dims.end());
  int64_t span = 0;
  for (auto [stride, size] : dims) {
    if (stride <= span)
      return false;
    span += stride * (size - 1);
  }
  return true;
}

// Fails where places lie outside of a memory of `count` elements.
void checkInside(const Window &w, const Polynomial &count) {
  Polynomial last = w.offset;
  for (size_t i = 0; i < w.shape.size(); ++i) {
    if (w.strides[i].constant().value_or(0) < 0)
      fail("has the strides ", emit::showShape(w.strides), ", expected none below 0");
    last += w.strides[i] * (w.shape[i] - Polynomial(1));
  }
  bool isOutside = emit::compare(graph::Predicate::GE, {last}, {count}).value_or(false) ||
                   emit::compare(graph::Predicate::LT, {w.offset}, {Polynomial(0)}).value_or(false);
  if (isOutside)
    fail("shows element ", last.str(), " of a tensor of ", count.str(), " elements");
}

// A view of the memory in which the tensor lies. That is known of a tensor that was not rearranged
// itself; where a view of it begins is not.
Results asStrided(OpCall &c) {
  Window w{c.integers("size"), c.integers("stride"), 0};
  if (w.shape.size() != w.strides.size())
    fail("has ", w.strides.size(), " strides for ", w.shape.size(), " dims");
  c.tensor("self");
  IValue whole = TensorState::wholeOf(c.handle("self"));
  const Polynomial count = emit::product(shapeOf(c.read(whole)));
  const bool isAll = emit::product(shapeOf(c.tensor("self"))) == count;
  if (whole.tensor()->isDense(c.e) != true || (!c.has("storage_offset") && !isAll))
    fail("shows memory by strides, in which the tensor's place is not known; take the elements by "
         "slices or unfold, or call contiguous() before");
  if (c.has("storage_offset"))
    w.offset = c.integer("storage_offset");
  const bool isEmpty = llvm::is_contained(w.shape, Polynomial(0));
  if (!isEmpty)
    checkInside(w, count);
  if (w.offset == Polynomial(0) && emit::product(w.shape) == count &&
      std::vector<Polynomial>(w.strides) == plainStrides(std::vector<Polynomial>(w.shape)))
    return viewed(c, whole, w.shape);
  IValueList flat = viewed(c, whole, {count}).values;
  auto read = [w](Emitter &e, Array base) { return e.gather(base, placesOf(e, w), 0); };
  std::function<Array(Emitter &, Array, Array)> write;
  if (isInjective(w))
    write = [w](Emitter &e, Array base, Array part) {
      const Polynomial size = emit::product(w.shape);
      Array places = e.reshape(placesOf(e, w), {size});
      return emit::scatterElements(e, base, places, e.reshape(part, {size}), 0,
                                   emit::Combine::Replace);
    };
  return makeView(c, flat[0], read, write,
                  [&](std::vector<Polynomial> &strides) { strides = w.strides; });
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
  if (rank == 0)
    return alias(c);
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
  if (rank == 0)
    return permuted(c, {});
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
  if (shape.size() >= least)
    return c["self"];
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

// The base after a write to windows that do not overlap: one begins every `step` elements of the
// dim, and the last dim of `part` holds the elements of a window.
Array writeWindows(Emitter &e, Array base, int64_t dim, int64_t step, Array part) {
  const int64_t rank = rankOf(base);
  Sizes shape = shapeOf(base), pieces = shape;
  Polynomial size = shapeOf(part)[rank], count = shapeOf(part)[dim], covered = count * step;
  Ints order = emit::dimsFrom(0, rank + 1);
  order.pop_back();
  order.insert(order.begin() + dim + 1, rank);
  part = e.transpose(part, order);
  auto cut = [&](Array x, int64_t at, const Polynomial &from, const Polynomial &to) {
    return e.slice(x, at, from, to - from);
  };
  auto join = [&](emit::Values parts, int64_t at) {
    llvm::erase_if(parts, [&](Array x) { return shapeOf(x)[at] == Polynomial(0); });
    return parts.size() == 1 ? parts[0] : e.concat(parts, at);
  };
  base = e.pad(base, dim, 0, Polynomial(step) - size); // the gap behind the last window
  Polynomial total = shapeOf(base)[dim];
  pieces[dim] = count;
  pieces.insert(pieces.begin() + dim + 1, step);
  Array rest = e.reshape(cut(base, dim, 0, covered), pieces);
  Array written = join({part, cut(rest, dim + 1, size, step)}, dim + 1);
  pieces.erase(pieces.begin() + dim + 1);
  pieces[dim] = covered;
  written = join({e.reshape(written, pieces), cut(base, dim, covered, total)}, dim);
  return cut(written, dim, 0, shape[dim]);
}

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
  std::function<Array(Emitter &, Array, Array)> write;
  if (const int64_t apart = count == Polynomial(1) ? size : step; apart >= size)
    write = [=](Emitter &e, Array base, Array part) {
      return writeWindows(e, base, dim, apart, part);
    };
  auto read = [=](Emitter &e, Array base) {
    emit::Values columns;
    for (int64_t i = 0; i < size; ++i)
      columns.push_back(e.insertDim(e.slice(base, dim, i, count, step), rank));
    return e.concat(columns, rank);
  };
  return makeView(c, c["self"], read, write, [&](std::vector<Polynomial> &strides) {
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
    {"lift", kViewed, itself},
    {"lift_fresh", kViewed, clone}, // of a constant that each run of the program makes anew
    {"lift_fresh_copy", kViewed, clone},
    {"mH", kViewed, transposeLast},
    {"mT", kViewed, transposeLast},
    {"matrix_H", kViewed, transposeLast},
    {"movedim", "T self, i[] source, i[] destination", moveDims},
    {"moveaxis", "T self, i[] source, i[] destination", moveDims},
    {"numpy_T", kViewed, reverseDims},
    {"permute", "T self, i[] dims", permute},
    {"positive", kViewed, itself},
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
    {"view", "T self, i dtype", viewAsType},
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
