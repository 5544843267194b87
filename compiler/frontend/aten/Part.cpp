// Views of parts: slices, single elements, pieces; and the same written into a copy.
#include "compiler/frontend/aten/MakeView.h"

#include "compiler/frontend/emit/Indexing.h"
#include "compiler/frontend/emit/Slicing.h"

#include <limits>

namespace cleave::aten {
namespace {

using emit::Emitter;

// -- parts ----------------------------------------------------------------------------------------
// Elements of one dim.
struct Range {
  int64_t dim;
  Polynomial start, size;
  int64_t step = 1;
};

Array readRange(Emitter &e, Array base, const Range &r) {
  return e.slice(base, r.dim, r.start, r.size, r.step);
}

// The base with `part` in the range's place.
Array writeRange(Emitter &e, Array base, const Range &r, Array part) {
  Polynomial total = shapeOf(base)[r.dim];
  part = e.broadcast(e.cast(part, elementTypeOf(base)), shapeOf(readRange(e, base, r)));
  if (r.step == 1) {
    emit::Values pieces;
    if (r.start != Polynomial(0))
      pieces.push_back(e.slice(base, r.dim, 0, r.start));
    pieces.push_back(part);
    Polynomial end = r.start + r.size;
    if (end != total)
      pieces.push_back(e.slice(base, r.dim, end, total - end));
    return pieces.size() == 1 ? pieces[0] : e.concat(pieces, r.dim);
  }
  // With a step, spread out both and select by a mask.
  auto spread = [&](Array x) -> Array {
    Sizes shape = shapeOf(base);
    return graph::PadOp::create(e.b, e.loc, graph::tensorOf(shape, elementTypeOf(x)), x, r.dim,
                                r.start, r.step - 1, 0);
  };
  Array ones = e.splat(shapeOf(part), e.b.getI32Type(), 1);
  Array mask = e.compare(emit::Predicate::NE, spread(ones), 0);
  return e.select(mask, spread(part), base);
}

IValue rangeView(OpCall &c, const IValue &self, const Range &r) {
  return makeView(
      c, self, [r](Emitter &e, Array base) { return readRange(e, base, r); },
      [r](Emitter &e, Array base, Array part) { return writeRange(e, base, r, part); },
      [r](std::vector<Polynomial> &strides) { strides[r.dim] *= Polynomial(r.step); });
}

// Clamps a position, which counts from the end if negative, to [0, size]. No size is larger than
// the largest position.
Polynomial placeIn(const Polynomial &size, Polynomial at) {
  if (at == Polynomial(std::numeric_limits<int64_t>::max()))
    return size;
  auto holds = [&](emit::Predicate predicate, const Polynomial &a, const Polynomial &b) {
    return emit::compare(predicate, {a}, {b});
  };
  if (holds(emit::Predicate::LT, at, 0).value_or(false))
    at += size;
  if (holds(emit::Predicate::LT, at, 0).value_or(false))
    return 0;
  return holds(emit::Predicate::GT, at, size).value_or(false) ? size : at;
}

Range rangeOf(OpCall &c, const Sizes &shape) {
  Range r;
  r.dim = c.dim("dim", static_cast<int64_t>(shape.size()));
  r.step = c.plainInteger("step");
  if (r.step < 1)
    fail("has a step of ", r.step, ", expected at least 1");
  const Polynomial &size = shape[r.dim];
  r.start = c.has("start") ? placeIn(size, c.integer("start")) : Polynomial(0);
  Polynomial end = c.has("end") ? placeIn(size, c.integer("end")) : size;
  Polynomial span = end - r.start;
  if (emit::compare(emit::Predicate::LE, {span}, {Polynomial(0)}).value_or(false))
    span = 0;
  r.size = span.ceilDividedBy(r.step);
  if (r.size == Polynomial(0))
    r.start = 0;
  return r;
}

// -- parts whose place depends on data ------------------------------------------------------------
// Whether a place is a number that depends on data.
bool isOfData(OpCall &c, const char *name) {
  const IValue &at = c[name];
  return at.isTensor() && !at.tensor()->number() && !c.e.known(c.read(at)) &&
         !c.e.evaluator.sizes(c.read(at));
}

// A view of `size` elements of dim `dim` from `start` (int64, without dims) on, which counts from
// the end if it is negative; without a size of one element, whose dim is removed.
IValue viewFrom(OpCall &c, const IValue &self, int64_t dim, Array start,
                std::optional<Polynomial> size) {
  const Polynomial total = shapeOf(c.read(self))[dim], count = size.value_or(1);
  start = emit::countFromFront(c.e, start, total);
  auto read = [=](Emitter &e, Array base) {
    Array places = e.iota({count}, 0, e.b.getI64Type());
    Array part = e.gather(base, e.add(places, e.broadcast(start, {count})), dim);
    return size ? part : e.dropDim(part, dim);
  };
  auto write = [=](Emitter &e, Array base, Array part) {
    const Sizes shape = shapeOf(base);
    Array place = e.iota(shape, dim, e.b.getI64Type());
    place = e.sub(place, e.broadcast(start, shape));
    // The place of each element of the base in the part; out of range outside of it.
    Array line = e.iota({total}, 0, e.b.getI64Type());
    Array moved = e.gather(size ? part : e.insertDim(part, dim),
                           e.sub(line, e.broadcast(start, {total})), dim);
    Array isInside =
        e.binary<graph::AndOp>(e.compare(emit::Predicate::GE, place, 0),
                               e.compare(emit::Predicate::LT, place, e.splatSize(place, count)));
    return e.select(isInside, moved, base);
  };
  return makeView(c, self, read, write, [&](std::vector<Polynomial> &strides) {
    if (!size)
      strides.erase(strides.begin() + dim);
  });
}

Array placeOfData(OpCall &c, const char *name) {
  return c.cast(c.e.reshape(c.tensor(name), {}), ElementType::I64);
}

Results slice(OpCall &c) { return rangeView(c, c["self"], rangeOf(c, shapeOf(c.tensor("self")))); }

Results narrow(OpCall &c) {
  Sizes shape = shapeOf(c.tensor("self"));
  int64_t dim = c.dim("dim", static_cast<int64_t>(shape.size()));
  if (isOfData(c, "start"))
    return viewFrom(c, c["self"], dim, placeOfData(c, "start"), c.integer("length"));
  Polynomial start = placeIn(shape[dim], c.integer("start"));
  return rangeView(c, c["self"], {dim, start, c.integer("length")});
}

Results sliceScatter(OpCall &c) {
  Array x = c.tensor("self");
  return writeRange(c.e, x, rangeOf(c, shapeOf(x)), c.tensor("src"));
}

// One index of a dim, which is removed.
Range indexRange(OpCall &c, const Sizes &shape, const Polynomial &index) {
  int64_t dim = c.dim("dim", static_cast<int64_t>(shape.size()));
  bool isNegative = emit::compare(emit::Predicate::LT, {index}, {Polynomial(0)}).value_or(false);
  Polynomial at = isNegative ? index + shape[dim] : index;
  using emit::Predicate;
  if (emit::compare(Predicate::LT, {at}, {Polynomial(0)}).value_or(false) ||
      emit::compare(Predicate::GE, {at}, {shape[dim]}).value_or(false))
    fail("takes element ", index.str(), " of dim ", dim, " of ", emit::showShape(shape));
  return {dim, at, 1};
}

IValue elementView(OpCall &c, const IValue &self, const Range &r) {
  return makeView(
      c, self, [r](Emitter &e, Array base) { return e.dropDim(readRange(e, base, r), r.dim); },
      [r](Emitter &e, Array base, Array part) {
        return writeRange(e, base, r, e.insertDim(part, r.dim));
      },
      [r](std::vector<Polynomial> &strides) { strides.erase(strides.begin() + r.dim); });
}

Results select(OpCall &c) {
  if (isOfData(c, "index"))
    return viewFrom(c, c["self"], c.dim("dim", rankOf(c.tensor("self"))), placeOfData(c, "index"),
                    std::nullopt);
  return elementView(c, c["self"], indexRange(c, shapeOf(c.tensor("self")), c.integer("index")));
}

Results selectScatter(OpCall &c) {
  Array x = c.tensor("self");
  Range r = indexRange(c, shapeOf(x), c.integer("index"));
  return writeRange(c.e, x, r, c.e.insertDim(c.tensor("src"), r.dim));
}

// -- pieces ---------------------------------------------------------------------------------------
constexpr int64_t kMostPieces = 4096; // each is an op

IValue pieces(OpCall &c, int64_t dim, const Sizes &sizes) {
  if (sizes.size() > kMostPieces)
    fail("cuts into ", sizes.size(), " pieces");
  IValueList out;
  Polynomial start;
  for (const Polynomial &size : sizes) {
    out.push_back(rangeView(c, c["self"], {dim, start, size}));
    start += size;
  }
  if (Polynomial total = shapeOf(c.tensor("self"))[dim]; start != total)
    fail("cuts a dim of size ", total.str(), " into pieces of ", emit::showShape(sizes));
  return IValue::list(std::move(out));
}

struct Cut {
  int64_t dim;
  Polynomial total;
};

Cut cutOf(OpCall &c) {
  Sizes shape = shapeOf(c.tensor("self"));
  int64_t dim = c.dim("dim", static_cast<int64_t>(shape.size()));
  return {dim, shape[dim]};
}

Results split(OpCall &c) {
  Cut cut = cutOf(c);
  return pieces(c, cut.dim, emit::piecesOf(c.e, cut.total, c.integer("split_size")));
}

Results splitBySizes(OpCall &c) { return pieces(c, cutOf(c).dim, c.integers("split_sizes")); }

Results chunk(OpCall &c) {
  Cut cut = cutOf(c);
  int64_t count = c.plainInteger("chunks");
  if (count < 1)
    fail("cuts into ", count, " pieces");
  return pieces(c, cut.dim, emit::piecesOf(c.e, cut.total, cut.total.ceilDividedBy(count)));
}

// Sizes that differ by at most 1, the larger ones first.
Results tensorSplit(OpCall &c) {
  Cut cut = cutOf(c);
  int64_t count = c.plainInteger("sections"), total = c.e.number(cut.total, "the size of the dim");
  if (count < 1 || count > kMostPieces)
    fail("cuts into ", count, " pieces");
  Sizes sizes;
  for (int64_t i = 0; i < count; ++i)
    sizes.push_back(total / count + (i < total % count ? 1 : 0));
  return pieces(c, cut.dim, sizes);
}

// Pieces that begin at the given places.
Results tensorSplitAt(OpCall &c) {
  Cut cut = cutOf(c);
  Sizes sizes;
  Polynomial start;
  for (const Polynomial &place : c.integers("indices")) {
    Polynomial end = placeIn(cut.total, place);
    sizes.push_back(end - start);
    start = end;
  }
  sizes.push_back(cut.total - start);
  return pieces(c, cut.dim, sizes);
}

// hsplit, vsplit, dsplit: along dims 1, 0, 2; a vector is split along its only dim.
template <int64_t which, bool atPlaces> Results splitAlong(OpCall &c) {
  Sizes shape = shapeOf(c.tensor("self"));
  if (shape.empty() || (which > 1 && shape.size() < 3) || (which == 0 && shape.size() < 2))
    fail("cuts ", emit::showShape(shape), " along dim ", which);
  IValue dim(int64_t(shape.size() == 1 ? 0 : which));
  return call(c.context, "aten::tensor_split",
              {c["self"], c[atPlaces ? "indices" : "sections"], dim});
}

Results unbind(OpCall &c) {
  Cut cut = cutOf(c);
  int64_t count = c.e.number(cut.total, "the number of pieces");
  if (count > kMostPieces)
    fail("makes ", count, " tensors");
  IValueList out;
  for (int64_t i = 0; i < count; ++i)
    out.push_back(elementView(c, c["self"], {cut.dim, i, 1}));
  return IValue::list(std::move(out));
}

constexpr OpEntry kPartOps[] = {
    {"chunk", "T self, i chunks, i dim=0", chunk},
    {"dsplit", "T self, i sections", splitAlong<2, false>},
    {"dsplit", "T self, i[] indices", splitAlong<2, true>},
    {"hsplit", "T self, i sections", splitAlong<1, false>},
    {"hsplit", "T self, i[] indices", splitAlong<1, true>},
    {"narrow", "T self, i dim, s start, i length", narrow},
    {"select", "T self, i dim, s index", select},
    {"select_scatter", "T self, T src, i dim, i index", selectScatter},
    {"slice", "T self, i dim=0, i? start=None, i? end=None, i step=1", slice},
    {"slice_scatter", "T self, T src, i dim=0, i? start=None, i? end=None, i step=1", sliceScatter},
    {"split", "T self, i split_size, i dim=0", split},
    {"split", "T self, i[] split_sizes, i dim=0", splitBySizes},
    {"split_with_sizes", "T self, i[] split_sizes, i dim=0", splitBySizes},
    {"tensor_split", "T self, i sections, i dim=0", tensorSplit},
    {"tensor_split", "T self, i[] indices, i dim=0", tensorSplitAt},
    {"unbind", "T self, i dim=0", unbind},
    {"unsafe_chunk", "T self, i chunks, i dim=0", chunk},
    {"unsafe_split", "T self, i split_size, i dim=0", split},
    {"unsafe_split_with_sizes", "T self, i[] split_sizes, i dim=0", splitBySizes},
    {"vsplit", "T self, i sections", splitAlong<0, false>},
    {"vsplit", "T self, i[] indices", splitAlong<0, true>},
};

} // namespace

llvm::ArrayRef<OpEntry> partOps() { return kPartOps; }

} // namespace cleave::aten
