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
// No gradient reaches the table's row `padding_idx`.
Results embedding(OpCall &c) {
  if (c.boolean("scale_grad_by_freq"))
    fail("scales gradients by how often words occur (scale_grad_by_freq=True), which Cleave does "
         "not do");
  Array indices = c.tensor("indices"), rows = emit::embedding(c.e, c.tensor("weight"), indices);
  int64_t padding = c.plainInteger("padding_idx");
  if (padding < 0)
    return rows;
  Array isPadding = c.e.compare(emit::Predicate::EQ, indices, static_cast<double>(padding));
  isPadding = c.e.broadcast(c.e.insertDim(isPadding, rankOf(indices)), shapeOf(rows));
  return c.e.select(isPadding, stopped(c.e, rows), rows);
}

// The sum, mean or maximum (modes 0 to 2) of rows over dim 1.
Array summedUp(OpCall &c, Array rows, int64_t mode) {
  return mode == 1   ? c.e.mean(rows, {1})
         : mode == 0 ? c.e.reduce(Reduction::Sum, rows, {1})
                     : c.e.reduce(Reduction::Max, rows, {1});
}

// One row per bag: the rows from one entry of `begins` to the next.
Array bagged(OpCall &c, Array rows, const Ints &begins, int64_t mode) {
  Polynomial total = c.e.dim(rows, 0), width = c.e.dim(rows, 1);
  auto bags = static_cast<int64_t>(begins.size());
  std::optional<Polynomial> each = bags > 0 ? total.dividedBy(bags) : std::nullopt;
  for (int64_t i = 0; each && i < bags; ++i)
    if (*each * Polynomial(i) != Polynomial(begins[i]))
      each.reset();
  if (each)
    return summedUp(c, c.e.reshape(rows, {bags, *each, width}), mode);
  constexpr int64_t most = 4096; // each is an op
  int64_t count = c.e.number(total, "the number of indices");
  if (bags < 1 || bags > most || begins[0] != 0)
    fail("has ", bags, " bags, the first from 0, expected 1 to ", most);
  emit::Values out;
  for (int64_t i = 0; i < bags; ++i) {
    int64_t size = (i + 1 < bags ? begins[i + 1] : count) - begins[i];
    if (size < 0)
      fail("has a bag that ends before it begins");
    Sizes row{1, width};
    Array bag = c.e.insertDim(c.e.slice(rows, 0, begins[i], size), 0);
    out.push_back(size == 0 ? c.e.splat(row, elementTypeOf(rows), 0) : summedUp(c, bag, mode));
  }
  return c.e.concat(out, 0);
}

// Reduces the rows of each bag. Bags are the rows of the indices, or given by where they begin.
Results embeddingBag(OpCall &c) {
  int64_t mode = c.plainInteger("mode");
  bool hasPadding = c.has("padding_idx") && c.plainInteger("padding_idx") >= 0;
  if (c.boolean("scale_grad_by_freq") || hasPadding)
    fail("leaves rows out or scales their gradients (padding_idx, scale_grad_by_freq), which "
         "Cleave does not do for bags");
  Array rows = emit::embedding(c.e, c.tensor("weight"), c.tensor("indices"));
  if (c.has("per_sample_weights")) {
    Array weights = c.e.insertDim(c.cast(c.tensor("per_sample_weights"), typeOf(rows)), 1);
    rows = c.e.mul(rows, c.e.broadcast(weights, shapeOf(rows)));
  }
  Ints begins = c.e.integersOf(c.tensor("offsets"), "where bags begin");
  if (c.boolean("include_last_offset") && !begins.empty())
    begins.pop_back();
  return IValueList{TensorState::create(bagged(c, rows, begins, mode)), IValue(), IValue(),
                    IValue()};
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
Results gather(OpCall &c) {
  Array x = c.tensor("self"), index = c.tensor("index");
  if (rankOf(x) == 0)
    return x;
  int64_t dim = c.dim("dim", rankOf(x));
  return emit::gatherElements(c.e, x, index, dim, /*neverNegative=*/true);
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

Results scatterReduce(OpCall &c) {
  Array x = c.tensor("self");
  bool isMean = c.string("reduce") == "mean", includesSelf = c.boolean("include_self");
  Combine how = isMean ? Combine::Add : combineOf(c.string("reduce"));
  auto withoutOld = [&](Array old, double value) {
    return includesSelf ? old
                        : scatteredInto(c, old, c.filled({}, typeOf(old), value), Combine::Replace);
  };
  Array out = scatteredInto(c, withoutOld(x, neutralOf(how, typeOf(x))), c.tensor("src"), how);
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
  if (rankOf(x) == 0)
    return x;
  return emit::cumulate(c.e, kind, x, c.dim("dim", rankOf(x)));
}
template <bool largest> Results cumulateMinMax(OpCall &c) {
  Array x = c.tensor("self");
  return both(emit::cumulateMinMax(c.e, x, c.dim("dim", rankOf(x)), largest));
}

constexpr const char *kPut = "T self, T?[] indices, T values, b accumulate=False, b unsafe=False";
constexpr const char *kScatterTensor = "T self, i dim, T index, T src, *, str? reduce=None";
constexpr const char *kScatterValue = "T self, i dim, T index, s value, *, str? reduce=None";
constexpr const char *kBag =
    "T weight, T indices, T offsets, b scale_grad_by_freq=False, i mode=0, b sparse=False, "
    "T? per_sample_weights=None, b include_last_offset=False, i? padding_idx=None";
constexpr const char *kCumulate = "T self, i dim, *, i? dtype=None";

constexpr OpEntry kIndexingOps[] = {
    {"_index_put_impl", kPut, indexPut},
    {"_unsafe_index", "T self, T?[] indices", index},
    {"_unsafe_index_put", kPut, indexPut},
    {"argsort", "T self, i dim=-1, b descending=False", argsort},
    {"argsort", "T self, *, b stable, i dim=-1, b descending=False", argsort},
    {"cummax", "T self, i dim", cumulateMinMax<true>},
    {"cummin", "T self, i dim", cumulateMinMax<false>},
    {"cumprod", kCumulate, cumulate<Reduction::Prod>},
    {"cumsum", kCumulate, cumulate<Reduction::Sum>},
    {"embedding",
     "T weight, T indices, i padding_idx=-1, b scale_grad_by_freq=False, b sparse=False",
     embedding},
    {"_embedding_bag", kBag, embeddingBag},
    {"embedding_bag", kBag, embeddingBag},
    {"gather", "T self, i dim, T index, *, b sparse_grad=False", gather},
    {"index", "T self, T?[] indices", index},
    {"index_add", "T self, i dim, T index, T source, *, s alpha=1", indexAdd},
    {"index_copy", "T self, i dim, T index, T source", indexCopy},
    {"index_fill", "T self, i dim, T index, num value", indexFill},
    {"index_put", kPut, indexPut},
    {"index_select", "T self, i dim, T index", indexSelect},
    {"masked_scatter", "T self, T mask, T source", maskedScatter},
    {"one_hot", "T self, i num_classes=-1", oneHot},
    {"scatter", kScatterTensor, scatterTensor},
    {"scatter", kScatterValue, scatterValue},
    {"scatter_add", "T self, i dim, T index, T src", scatterAdd},
    {"scatter_reduce", "T self, i dim, T index, T src, str reduce, *, b include_self=True",
     scatterReduce},
    {"sort", "T self, i dim=-1, b descending=False", sort},
    {"sort", "T self, *, b? stable, i dim=-1, b descending=False", sort},
    {"take", "T self, T index", take},
    {"take_along_dim", "T self, T indices, i? dim=None", takeAlongDim},
    {"topk", "T self, i k, i dim=-1, b largest=True, b sorted=True", topk},
};

} // namespace

llvm::ArrayRef<OpEntry> indexingOps() { return kIndexingOps; }

} // namespace cleave::aten
