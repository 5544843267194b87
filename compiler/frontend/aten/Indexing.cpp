// Indexing: gathers and scatters by index tensors and masks; sorting and cumulative reductions.
#include "compiler/frontend/aten/OpCall.h"

#include "compiler/frontend/emit/Coordinates.h"
#include "compiler/frontend/emit/Elementwise.h"
#include "compiler/frontend/emit/Indexing.h"
#include "compiler/frontend/emit/Ordering.h"

#include <algorithm>
#include <cmath>

namespace cleave::aten {
namespace {

using emit::Combine;
using emit::Predicate;
using emit::Reduction;

// -- rows -----------------------------------------------------------------------------------------
Results embedding(OpCall &c) {
  return emit::embedding(c.e, c.tensor("weight"), c.tensor("indices"),
                         {c.plainInteger("padding_idx"), c.boolean("scale_grad_by_freq")});
}

Results indexSelect(OpCall &c) {
  Array x = c.tensor("self"), index = c.tensor("index");
  if (rankOf(index) == 0)
    index = c.e.insertDim(index, 0);
  return emit::gather(c.e, x, index, c.dim("dim", rankOf(x)));
}

Results take(OpCall &c) {
  Array x = c.tensor("self");
  Array flat = c.e.reshape(x, {emit::product(shapeOf(x))});
  return emit::gather(c.e, flat, c.tensor("index"), 0);
}

// -- elements along one dim -----------------------------------------------------------------------
// The result has the dims of the index.
Results gather(OpCall &c) {
  Array x = c.tensor("self"), index = c.tensor("index");
  Sizes shape = shapeOf(index);
  if (rankOf(x) == 0)
    x = c.e.insertDim(x, 0);
  if (rankOf(index) == 0)
    index = c.e.insertDim(index, 0);
  int64_t dim = c.dim("dim", rankOf(x));
  return c.e.reshape(emit::gatherElements(c.e, x, index, dim, /*neverNegative=*/true), shape);
}

Results takeAlongDim(OpCall &c) {
  Array x = c.tensor("self"), index = c.tensor("indices");
  if (!c.has("dim")) {
    Array flat = c.e.reshape(x, {emit::product(shapeOf(x))});
    return emit::gatherElements(c.e, flat, c.e.reshape(index, {emit::product(shapeOf(index))}), 0);
  }
  int64_t dim = c.dim("dim", rankOf(x));
  if (rankOf(index) != rankOf(x))
    fail("has indices of ", rankOf(index), " dims for ", rankOf(x));
  // All dims but `dim` are broadcast together.
  Sizes left = shapeOf(x), right = shapeOf(index);
  left[dim] = right[dim] = 1;
  Sizes common = emit::broadcastShape(left, right), wide = common;
  common[dim] = shapeOf(x)[dim];
  wide[dim] = shapeOf(index)[dim];
  return emit::gatherElements(c.e, c.e.broadcast(x, common), c.e.broadcast(index, wide), dim);
}

Combine combineOf(const std::string &reduce) {
  static const std::map<std::string, Combine> known = {
      {"add", Combine::Add},  {"sum", Combine::Add},  {"multiply", Combine::Mul},
      {"prod", Combine::Mul}, {"amax", Combine::Max}, {"amin", Combine::Min}};
  auto found = known.find(reduce);
  if (found == known.end())
    fail("combines by '", reduce, "', which Cleave does not do");
  return found->second;
}

// Scatters `values` to the places of `index` in a tensor like x.
Array scatteredInto(OpCall &c, Array x, Array values, Combine how) {
  Array index = c.tensor("index");
  int64_t dim = c.dim("dim", rankOf(x));
  Sizes shape = shapeOf(index);
  if (rankOf(values) == rankOf(index)) // `values` may be larger than the index
    for (size_t i = 0; i < shape.size(); ++i)
      values = c.e.slice(values, static_cast<int64_t>(i), 0, shape[i]);
  return emit::scatterElements(c.e, x, index, c.e.broadcast(c.cast(values, typeOf(x)), shape), dim,
                               how);
}

Results scatterTensor(OpCall &c) {
  Combine how = c.has("reduce") ? combineOf(c.string("reduce")) : Combine::Replace;
  return scatteredInto(c, c.tensor("self"), c.tensor("src"), how);
}
Results scatterValue(OpCall &c) {
  Combine how = c.has("reduce") ? combineOf(c.string("reduce")) : Combine::Replace;
  return scatteredInto(c, c.tensor("self"), c.readAs(c["value"], typeOf(c.tensor("self"))), how);
}
Results scatterAdd(OpCall &c) {
  return scatteredInto(c, c.tensor("self"), c.tensor("src"), Combine::Add);
}
// The neutral element of a combination.
double neutralOf(Combine how, ElementType type) {
  bool isWhole = !isFloat(type);
  double most = isWhole ? std::ldexp(1.0, static_cast<int>(byteSize(type)) * 8 - 2) : INFINITY;
  return how == Combine::Mul ? 1 : how == Combine::Max ? -most : how == Combine::Min ? most : 0;
}

// x, of which the elements that the index names get no gradient.
Array withStoppedUpdates(OpCall &c, Array x) {
  Array one = c.filled({}, typeOf(x), 1);
  Array named = scatteredInto(c, c.e.splat(x, 0), one, Combine::Replace);
  return c.e.select(c.e.compare(Predicate::NE, named, 0), stopped(c.e, x), x);
}

Results scatterReduce(OpCall &c) {
  Array x = c.tensor("self");
  bool isMean = c.string("reduce") == "mean", includesSelf = c.boolean("include_self");
  Combine how = isMean ? Combine::Add : combineOf(c.string("reduce"));
  auto withoutOld = [&](Array old, double value) {
    return includesSelf ? old
                        : scatteredInto(c, old, c.filled({}, typeOf(old), value), Combine::Replace);
  };
  Array old = withoutOld(x, neutralOf(how, typeOf(x)));
  Array out = scatteredInto(c, old, c.tensor("src"), how);
  bool isExtreme = how == Combine::Max || how == Combine::Min;
  if (isExtreme && !includesSelf && isFloating(x)) { // PyTorch counts a left out element that ties
    Array ties = c.e.compare(Predicate::EQ, x, stopped(c.e, out));
    out = scatteredInto(c, c.e.select(ties, withStoppedUpdates(c, x), old), c.tensor("src"), how);
  }
  if (!isMean)
    return out;
  Array one = c.filled({}, typeOf(x), 1);
  Array count = scatteredInto(c, withoutOld(c.e.splat(x, 1), 0), one, Combine::Add);
  return isFloating(x) ? c.e.div(out, count) : emit::floorDivide(c.e, out, count);
}

// Replaces the elements under the mask by consecutive elements of the source.
Results maskedScatter(OpCall &c) {
  Array x = c.tensor("self"), mask = c.tensor("mask"), source = c.tensor("source");
  c.e.broadcastTogether(x, mask);
  Polynomial count = emit::product(shapeOf(x));
  Array flat = c.e.reshape(c.cast(mask, ElementType::I64), {count});
  Array place = c.e.sub(emit::cumulate(c.e, Reduction::Sum, flat, 0), 1.0);
  Array all = c.e.reshape(c.cast(source, typeOf(x)), {emit::product(shapeOf(source))});
  Array last = c.e.splatSize(place, shapeOf(all)[0] - Polynomial(1));
  place = c.e.min(c.e.max(place, 0.0), last);
  Array taken = c.e.reshape(emit::gather(c.e, all, place, 0), shapeOf(x));
  return c.e.select(mask, taken, x);
}

// Writes rows of one dim to the places of the index.
Array writeRows(OpCall &c, Array rows, Combine how) {
  Array x = c.tensor("self"), index = c.tensor("index");
  if (rankOf(index) == 0)
    index = c.e.insertDim(index, 0);
  int64_t dim = c.dim("dim", rankOf(x));
  Array toFront = c.e.swapDims(x, 0, dim);
  Sizes shape = shapeOf(x);
  shape[dim] = shapeOf(index)[0];
  rows = c.e.swapDims(c.e.broadcast(c.cast(rows, typeOf(x)), shape), 0, dim);
  Array out = emit::scatterAt(c.e, toFront, {index}, rows, 0, how);
  return c.e.swapDims(out, 0, dim);
}
Results indexAdd(OpCall &c) {
  Array source = c.tensor("source");
  if (double alpha = c.number("alpha"); alpha != 1)
    source = c.e.mul(source, alpha);
  return writeRows(c, source, Combine::Add);
}
Results indexCopy(OpCall &c) { return writeRows(c, c.tensor("source"), Combine::Replace); }
Results indexFill(OpCall &c) {
  return writeRows(c, c.readAs(c["value"], typeOf(c.tensor("self"))), Combine::Replace);
}

// As scatter_reduce, with one index for all elements of a row.
Results indexReduce(OpCall &c) {
  Array source = c.tensor("source"), index = c.tensor("index");
  const int64_t dim = c.dim("dim", rankOf(source));
  Sizes line(rankOf(source), Polynomial(1));
  line[dim] = emit::product(shapeOf(index));
  IValue places = TensorState::create(c.e.broadcast(c.e.reshape(index, line), shapeOf(source)));
  return call(c.context, "aten::scatter_reduce", {c["self"], dim, places, c["source"], c["reduce"]},
              {{"include_self", c["include_self"]}});
}

// -- any places -----------------------------------------------------------------------------------
// Index tensors for some dims, broadcast together. `order` moves these dims together, to `first`:
// their place if they are neighbours, else the front.
struct Places {
  emit::Values coordinates;
  Ints order;
  int64_t first = 0;
};

Places placesOf(OpCall &c, int64_t rank) {
  const IValueList &indices = c["indices"].items();
  if (static_cast<int64_t>(indices.size()) > rank)
    fail("has ", indices.size(), " indices for ", rank, " dims");
  Places out;
  Ints indexed;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i].isNone())
      continue;
    Array index = c.read(indices[i]);
    if (typeOf(index) == ElementType::U8)
      fail("chooses elements by a mask of uint8; make it one of bools");
    if (typeOf(index) == ElementType::Bool)
      fail("chooses elements by bools, so that the size of the result depends on data; "
           "use torch.where");
    out.coordinates.push_back(index);
    indexed.push_back(static_cast<int64_t>(i));
  }
  if (indexed.empty())
    fail("has no indices");
  c.e.broadcastTogether(out.coordinates);
  bool neighbours = indexed.back() - indexed.front() + 1 == static_cast<int64_t>(indexed.size());
  out.first = neighbours ? indexed.front() : 0;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(indexed, dim))
      out.order.push_back(dim);
  out.order.insert(out.order.begin() + out.first, indexed.begin(), indexed.end());
  return out;
}

Array readPlaces(OpCall &c, Array x, const Places &places) {
  x = c.e.transpose(x, places.order);
  if (places.coordinates.size() == 1)
    return emit::gather(c.e, x, places.coordinates[0], places.first);
  return emit::gatherAt(c.e, x, places.coordinates, places.first);
}

Results index(OpCall &c) {
  Array x = c.tensor("self");
  return readPlaces(c, x, placesOf(c, rankOf(x)));
}

// The mask if the only index is a tensor of bools over the first dims; else null.
std::optional<Array> maskOf(OpCall &c) {
  const IValueList &indices = c["indices"].items();
  if (indices.size() != 1 || !indices[0].isTensor())
    return std::nullopt;
  Array mask = c.read(indices[0]);
  return typeOf(mask) == ElementType::Bool ? std::optional(mask) : std::nullopt;
}

Results indexPut(OpCall &c) {
  Array x = c.tensor("self"), values = c.cast(c.tensor("values"), typeOf(c.tensor("self")));
  Sizes shape = shapeOf(x);
  bool adds = c.boolean("accumulate");
  if (std::optional<Array> mask = maskOf(c)) {
    Array where = *mask;
    while (rankOf(where) < rankOf(x))
      where = c.e.insertDim(where, rankOf(where));
    // All chosen rows get the same values.
    int64_t rest = rankOf(x) - rankOf(*mask);
    if (rankOf(values) == rest + 1 && shapeOf(values)[0] == Polynomial(1))
      values = c.e.dropDim(values, 0);
    if (rankOf(values) > rest)
      fail("writes different values where a mask says; use torch.where");
    Array filled = c.e.broadcast(values, shape);
    return c.e.select(c.e.broadcast(where, shape), adds ? c.e.add(x, filled) : filled, x);
  }
  Places places = placesOf(c, rankOf(x));
  values = c.e.broadcast(values, shapeOf(readPlaces(c, x, places)));
  Array out = emit::scatterAt(c.e, c.e.transpose(x, places.order), places.coordinates, values,
                              places.first, adds ? Combine::Add : Combine::Replace);
  Ints inverse(places.order.size());
  for (size_t i = 0; i < inverse.size(); ++i)
    inverse[places.order[i]] = static_cast<int64_t>(i);
  return c.e.transpose(out, inverse);
}

Results oneHot(OpCall &c) {
  Array x = c.tensor("self");
  Polynomial classes = c.integer("num_classes");
  if (classes == Polynomial(-1))
    fail("takes the number of classes from the data; give num_classes");
  Sizes shape = shapeOf(x);
  shape.push_back(classes);
  Array at = c.e.broadcast(c.e.insertDim(x, rankOf(x)), shape);
  Array hit = c.e.compare(Predicate::EQ, c.e.iota(shape, rankOf(x), elementTypeOf(x)), at);
  return c.cast(hit, ElementType::I64);
}

// -- order ----------------------------------------------------------------------------------------
Results both(const emit::Ordered &ordered) { return {ordered.values, ordered.indices}; }

Results sort(OpCall &c) {
  Array x = c.tensor("self");
  return both(emit::sort(c.e, x, c.dim("dim", rankOf(x)), c.boolean("descending")));
}
Results sortRows(OpCall &c) {
  return emit::sort(c.e, c.tensor("self"), 0, /*descending=*/false).values;
}
Results argsort(OpCall &c) {
  Array x = c.tensor("self");
  return emit::sort(c.e, x, c.dim("dim", rankOf(x)), c.boolean("descending")).indices;
}
Results topk(OpCall &c) {
  Array x = c.tensor("self");
  return both(emit::topK(c.e, x, c.integer("k"), c.dim("dim", rankOf(x)), c.boolean("largest")));
}

template <Reduction kind> Results cumulate(OpCall &c) {
  Array x = c.tensor("self");
  std::optional<ElementType> type = c.dtype();
  x = c.cast(x, type.value_or(isFloating(x) ? typeOf(x) : ElementType::I64));
  return emit::cumulate(c.e, kind, x, c.dim("dim", rankOf(x)));
}
Results logCumulate(OpCall &c) {
  Array x = c.floats("self");
  return rankOf(x) == 0 ? x : emit::cumulateLogSumExp(c.e, x, c.dim("dim", rankOf(x)));
}
template <bool largest> Results cumulateMinMax(OpCall &c) {
  Array x = c.tensor("self");
  return both(emit::cumulateMinMax(c.e, x, c.dim("dim", rankOf(x)), largest));
}

constexpr const char *kPut = "T self, T?[] indices, T values, b accumulate=False, b unsafe=False";
constexpr const char *kScatterTensor = "V self, i dim, V index, V src, *, str? reduce=None";
constexpr const char *kScatterValue = "V self, i dim, V index, s value, *, str? reduce=None";
constexpr const char *kCumulate = "V self, i dim, *, i? dtype=None";

constexpr OpEntry kIndexingOps[] = {
    {"_index_put_impl", kPut, indexPut},
    {"_unsafe_index", "T self, T?[] indices", index},
    {"_unsafe_index_put", kPut, indexPut},
    {"argsort", "V self, i dim=-1, b descending=False", argsort},
    {"argsort", "V self, *, b stable, i dim=-1, b descending=False", argsort},
    {"cummax", "V self, i dim", cumulateMinMax<true>},
    {"cummin", "V self, i dim", cumulateMinMax<false>},
    {"cumprod", kCumulate, cumulate<Reduction::Prod>},
    {"cumsum", kCumulate, cumulate<Reduction::Sum>},
    {"embedding",
     "T weight, T indices, i padding_idx=-1, b scale_grad_by_freq=False, b sparse=False",
     embedding},
    {"gather", "T self, i dim, T index, *, b sparse_grad=False", gather},
    {"index", "T self, T?[] indices", index},
    {"index_add", "V self, i dim, T index, V source, *, s alpha=1", indexAdd},
    {"index_copy", "V self, i dim, T index, V source", indexCopy},
    {"index_fill", "V self, i dim, T index, num value", indexFill},
    {"index_put", kPut, indexPut},
    {"index_reduce", "V self, i dim, V index, V source, str reduce, *, b include_self=True",
     indexReduce},
    {"index_select", "V self, i dim, T index", indexSelect},
    {"logcumsumexp", "V self, i dim", logCumulate},
    {"masked_scatter", "T self, T mask, T source", maskedScatter},
    {"msort", "V self", sortRows},
    {"one_hot", "T self, i num_classes=-1", oneHot},
    {"scatter", kScatterTensor, scatterTensor},
    {"scatter", kScatterValue, scatterValue},
    {"scatter_add", "V self, i dim, V index, V src", scatterAdd},
    {"scatter_reduce", "V self, i dim, V index, V src, str reduce, *, b include_self=True",
     scatterReduce},
    {"sort", "V self, i dim=-1, b descending=False", sort},
    {"sort", "V self, *, b? stable, i dim=-1, b descending=False", sort},
    {"take", "T self, T index", take},
    {"take_along_dim", "T self, T indices, i? dim=None", takeAlongDim},
    {"topk", "V self, i k, i dim=-1, b largest=True, b sorted=True", topk},
};

} // namespace

llvm::ArrayRef<OpEntry> indexingOps() { return kIndexingOps; }

} // namespace cleave::aten
