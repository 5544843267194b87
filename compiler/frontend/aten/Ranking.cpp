// Ranks and counts of elements: quantiles, the most frequent element, places in sorted tensors,
// numbers of occurrences.
#include "compiler/frontend/aten/OpCall.h"

#include "compiler/frontend/emit/Bounds.h"
#include "compiler/frontend/emit/Coordinates.h"
#include "compiler/frontend/emit/Elementwise.h"
#include "compiler/frontend/emit/Ordering.h"

#include "llvm/ADT/StringSwitch.h"

namespace cleave::aten {
namespace {

using emit::Predicate;
using emit::Reduction;

// -- quantiles ------------------------------------------------------------------------------------
enum class Between { Linear, Lower, Higher, Nearest, Midpoint };

Between betweenOf(OpCall &c) {
  const std::string &name = c.string("interpolation");
  auto found = llvm::StringSwitch<std::optional<Between>>(name)
                   .Case("linear", Between::Linear)
                   .Case("lower", Between::Lower)
                   .Case("higher", Between::Higher)
                   .Case("nearest", Between::Nearest)
                   .Case("midpoint", Between::Midpoint)
                   .Default(std::nullopt);
  if (!found)
    fail("interpolates by '", name, "', expected linear, lower, higher, nearest or midpoint");
  return *found;
}

// The elements of the last dim of `sorted` at these places (floats, from 0), which lie between two.
Array elementsAt(OpCall &c, Array sorted, Array places, Between between) {
  auto take = [&](Array whole) {
    return emit::gatherElements(c.e, sorted, c.cast(whole, ElementType::I64), rankOf(sorted) - 1,
                                /*neverNegative=*/true);
  };
  Array below = c.e.unary<graph::FloorOp>(places), above = c.e.unary<graph::CeilOp>(places);
  if (between == Between::Nearest)
    return take(c.e.unary<graph::RoundOp>(places));
  if (between == Between::Lower || between == Between::Higher)
    return take(between == Between::Lower ? below : above);
  Array weight = between == Between::Midpoint ? c.e.splat(places, 0.5) : c.e.sub(places, below);
  return emit::interpolate(c.e, take(below), take(above), weight);
}

// The last place of each row that counts: of the numbers, where NaN are ignored, or of all. A row
// with a NaN that is not ignored has only its last place, where a NaN is after sorting.
Array placesIn(OpCall &c, Array x, Array q, bool ignoresNan) {
  const int64_t last = rankOf(x) - 1;
  Array isNan = c.cast(emit::isNan(c.e, x), typeOf(x));
  Array count = c.e.reduce(Reduction::Sum, isNan, {last}, /*keep=*/true);
  Array most = c.e.splatSize(count, shapeOf(x)[last] - Polynomial(1));
  Sizes shape = shapeOf(x);
  shape[last] = shapeOf(q)[0];
  q = c.e.broadcast(q, shape);
  if (ignoresNan)
    return c.e.mul(q, c.e.broadcast(c.e.max(c.e.sub(most, count), 0.0), shape));
  Array anyNan = c.e.broadcast(c.e.compare(Predicate::GT, count, 0), shape);
  most = c.e.broadcast(most, shape);
  return c.e.select(anyNan, most, c.e.mul(q, most));
}

// The quantiles asked for, in the type of the elements.
Array quantilesOf(OpCall &c, ElementType type) {
  Array q = c.readAs(c["q"], type);
  if (rankOf(q) > 1)
    fail("asks for quantiles ", emit::showShape(shapeOf(q)), ", expected at most one dim");
  if (std::optional<Tensor> known = c.e.known(q))
    for (double at : known->values)
      if (!(at >= 0 && at <= 1))
        fail("asks for the quantile ", at, ", expected 0 to 1");
  return q;
}

// x with dim `dim` behind the others.
Array movedToEnd(OpCall &c, Array x, int64_t dim) {
  Ints order = emit::dimsFrom(0, rankOf(x));
  order.erase(order.begin() + dim);
  order.push_back(dim);
  return c.e.transpose(x, order);
}

// The quantiles come first; a dim of size 1 stays for `dim`, or for each dim of a flattened tensor.
template <bool ignoresNan> Results quantile(OpCall &c) {
  Array x = c.tensor("self");
  c.e.checkFloat(x);
  Array q = quantilesOf(c, typeOf(x));
  const int64_t rank = rankOf(x);
  const bool isFlat = !c.has("dim") || rank == 0;
  const int64_t dim = isFlat ? 0 : c.dim("dim", rank);
  if (isFlat)
    x = c.e.reshape(x, {emit::product(shapeOf(x))});
  x = movedToEnd(c, x, dim);
  const int64_t last = rankOf(x) - 1;
  Array places = placesIn(c, x, c.e.reshape(q, {emit::product(shapeOf(q))}), ignoresNan);
  Array sorted = emit::sort(c.e, x, last, /*descending=*/false).values;
  Array out = elementsAt(c, sorted, places, betweenOf(c)); // [dims but `dim`, quantiles]
  Ints toFront{last};
  for (int64_t i = 0; i < last; ++i)
    toFront.push_back(i);
  out = c.e.transpose(out, toFront);
  for (int64_t i = 0; c.boolean("keepdim") && i < (isFlat ? rank : 1); ++i)
    out = c.e.insertDim(out, 1 + dim);
  return rankOf(q) == 0 ? c.e.dropDim(out, 0) : out;
}

// -- the most frequent element --------------------------------------------------------------------
// Of equally frequent ones the smallest, and its last place.
Results mode(OpCall &c) {
  Array x = c.tensor("self");
  if (rankOf(x) == 0)
    return {x, c.filled({}, ElementType::I64, 0)};
  const int64_t dim = c.dim("dim", rankOf(x));
  emit::Ordered ordered = emit::sort(c.e, x, dim, /*descending=*/false);
  const Polynomial size = shapeOf(x)[dim];
  // Where a run of equal elements begins: at the first, and where the one before is another.
  Array before = c.e.slice(c.e.pad(ordered.values, dim, 1, 0), dim, 0, size);
  Array number = c.e.iota(shapeOf(x), dim, c.e.b.getI64Type());
  Array begins = c.e.binary<graph::OrOp>(c.e.compare(Predicate::EQ, number, 0),
                                         c.e.compare(Predicate::NE, ordered.values, before));
  Array begin =
      emit::cumulate(c.e, Reduction::Max, c.e.select(begins, number, c.e.splat(number, 0)), dim);
  Array end = emit::argMinMax(c.e, c.e.sub(number, begin), dim, /*largest=*/true, /*keep=*/true);
  Array place = emit::gatherElements(c.e, ordered.indices, end, dim, /*neverNegative=*/true);
  Array value = emit::gatherElements(c.e, x, place, dim, /*neverNegative=*/true);
  if (c.boolean("keepdim"))
    return {value, place};
  return {c.e.dropDim(value, dim), c.e.dropDim(place, dim)};
}

// -- places in sorted tensors ---------------------------------------------------------------------
// The number of elements of `sorted` [batch…, n] before each of `values` [batch…, m]: those that
// are smaller, with `orEqual` also equal ones. All are before NaN.
Array countBefore(OpCall &c, Array sorted, Array values, bool orEqual) {
  Sizes pairs = shapeOf(values);
  const auto last = static_cast<int64_t>(pairs.size());
  pairs.push_back(shapeOf(sorted).back());
  if (rankOf(sorted) > 1)
    sorted = c.e.insertDim(sorted, rankOf(sorted) - 1);
  Array element = c.e.broadcast(sorted, pairs);
  Array value = c.e.broadcast(c.e.insertDim(values, last), pairs);
  Array isBehind = c.e.compare(orEqual ? Predicate::GT : Predicate::GE, element, value);
  Array isBefore = c.cast(c.e.logicalNot(isBehind), ElementType::I64);
  Array count = c.e.reduce(Reduction::Sum, isBefore, {last});
  return c.boolean("out_int32") ? c.cast(count, ElementType::I32) : count;
}

Results placesInSorted(OpCall &c, const IValue &sequence, const IValue &given, bool orEqual) {
  ElementType type = promotedType(c, {sequence, given});
  Array sorted = c.readAs(sequence, type), values = c.readAs(given, type);
  if (rankOf(sorted) == 0)
    fail("searches in a tensor without dims");
  Sizes left = shapeOf(sorted), right = shapeOf(values);
  if (left.size() > 1 &&
      (left.size() != right.size() || !std::equal(left.begin(), left.end() - 1, right.begin())))
    fail("searches in ", emit::showShape(left), " for ", emit::showShape(right),
         ", expected the same sizes before the last dim");
  return countBefore(c, sorted, values, orEqual);
}

Results searchSorted(OpCall &c) {
  bool orEqual = c.boolean("right");
  if (c.has("side"))
    orEqual = c.string("side") == "right";
  if (!c.has("sorter"))
    return placesInSorted(c, c["sorted_sequence"], c["self"], orEqual);
  Array sequence = c.tensor("sorted_sequence");
  c.e.checkRank(sequence, 1);
  Array sorted = emit::gatherElements(c.e, sequence, c.tensor("sorter"), rankOf(sequence) - 1,
                                      /*neverNegative=*/true);
  return placesInSorted(c, IValue(TensorState::create(sorted)), c["self"], orEqual);
}

Results bucketize(OpCall &c) {
  if (rankOf(c.tensor("boundaries")) != 1)
    fail("has boundaries ", emit::showShape(shapeOf(c.tensor("boundaries"))), ", expected one dim");
  return placesInSorted(c, c["boundaries"], c["self"], c.boolean("right"));
}

// -- occurrences ----------------------------------------------------------------------------------
// The sum of the weights (ones, if there are none) of each number. Its size is the largest number
// plus 1, but at least `minlength`; since sizes do not depend on data, it is `minlength`.
Results binCount(OpCall &c) {
  Array x = c.tensor("self");
  c.e.checkInteger(x);
  const Polynomial bins = c.integer("minlength"), count = emit::product(shapeOf(x));
  if (rankOf(x) != 1)
    fail("counts the numbers of ", emit::showShape(shapeOf(x)), ", expected one dim");
  if (bins == Polynomial(0))
    fail("has a size that depends on data; give the number of bins (minlength)");
  emit::checkBelow(c.e, x, bins);
  Array weights = c.has("weights") ? c.tensor("weights") : c.filled({count}, ElementType::I64, 1);
  if (c.has("weights") && typeOf(weights) != ElementType::F32)
    weights = c.cast(weights, ElementType::F64);
  return graph::buildScatterAlong(c.e.b, Reduction::Sum, stopped(c.e, weights), x, 0, bins);
}

constexpr const char *kQuantile =
    "T self, num q, i? dim=None, b keepdim=False, *, str interpolation='linear'";

constexpr OpEntry kRankingOps[] = {
    {"bincount", "T self, T? weights=None, i minlength=0", binCount},
    {"bucketize", "num self, T boundaries, *, b out_int32=False, b right=False", bucketize},
    {"mode", "T self, i dim=-1, b keepdim=False", mode},
    {"nanquantile", kQuantile, quantile<true>},
    {"quantile", kQuantile, quantile<false>},
    {"searchsorted",
     "T sorted_sequence, num self, *, b out_int32=False, b right=False, str? side=None, "
     "T? sorter=None",
     searchSorted},
};

} // namespace

llvm::ArrayRef<OpEntry> rankingOps() { return kRankingOps; }

} // namespace cleave::aten
