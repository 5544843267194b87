// Reductions over some dims: sums, minima and maxima, medians, moments, norms; distances.
#include "compiler/frontend/aten/OpCall.h"
#include "compiler/frontend/emit/Coordinates.h"
#include "compiler/frontend/emit/Elementwise.h"
#include "compiler/frontend/emit/Ordering.h"
#include "compiler/frontend/emit/Reductions.h"

#include <cmath>
#include <limits>

namespace cleave::aten {
namespace {

using emit::Predicate;
using emit::Reduction;

bool keeps(OpCall &c) { return c.boolean("keepdim"); }

Ints reducedDims(OpCall &c, Array x) { return c.dims("dim", rankOf(x)); }

// Sums of integers and bools are int64.
ElementType sumType(OpCall &c, Array x) {
  if (std::optional<ElementType> type = c.dtype())
    return *type;
  return isFloating(x) ? typeOf(x) : ElementType::I64;
}

Results sum(OpCall &c) {
  Array x = c.cast(c.tensor("self"), sumType(c, c.tensor("self")));
  return c.e.reduce(Reduction::Sum, x, reducedDims(c, x), keeps(c));
}

Results mean(OpCall &c) {
  Array x = c.castIf(c.tensor("self"), c.dtype());
  c.e.checkFloat(x);
  return c.e.mean(x, reducedDims(c, x), keeps(c));
}

Results prod(OpCall &c) {
  Array x = c.cast(c.tensor("self"), sumType(c, c.tensor("self")));
  return c.e.reduce(Reduction::Prod, x, reducedDims(c, x), keeps(c));
}

template <Reduction kind> Results minMax(OpCall &c) {
  Array x = c.tensor("self");
  return c.e.reduce(kind, x, reducedDims(c, x), keeps(c));
}

template <emit::Summary summary> Results logic(OpCall &c) {
  Array x = c.cast(c.tensor("self"), ElementType::Bool);
  return emit::summarise(c.e, summary, x, reducedDims(c, x), keeps(c));
}

Results countNonzero(OpCall &c) {
  Array x = c.cast(c.cast(c.tensor("self"), ElementType::Bool), ElementType::I64);
  return c.e.reduce(Reduction::Sum, x, reducedDims(c, x));
}

// -- positions of minima and maxima ---------------------------------------------------------------
template <bool largest> Results position(OpCall &c) {
  Array x = c.tensor("self");
  bool flat = !c.has("dim");
  if (flat)
    x = c.e.reshape(x, {emit::product(shapeOf(x))});
  if (rankOf(x) == 0)
    return c.filled({}, ElementType::I64, 0);
  int64_t dim = flat ? 0 : c.dim("dim", rankOf(x));
  return emit::argMinMax(c.e, x, dim, largest, !flat && keeps(c));
}

template <bool largest> Results minMaxAndPosition(OpCall &c) {
  Array x = c.tensor("self");
  int64_t dim = c.dim("dim", rankOf(x));
  Array place = emit::argMinMax(c.e, x, dim, largest, /*keep=*/true);
  auto shaped = [&](Array array) { return keeps(c) ? array : c.e.dropDim(array, dim); };
  if (!isFloating(x))
    return {c.e.reduce(largest ? Reduction::Max : Reduction::Min, x, {dim}, keeps(c)),
            shaped(place)};
  // Only the chosen element gets a gradient, also among equal ones.
  Array best = emit::gatherElements(c.e, x, place, dim, /*neverNegative=*/true);
  return {shaped(best), shaped(place)};
}

Results minAndMax(OpCall &c) {
  Array x = c.tensor("self");
  Ints dims = c.has("dim") ? Ints{c.dim("dim", rankOf(x))} : emit::dimsFrom(0, rankOf(x));
  return {c.e.reduce(Reduction::Min, x, dims, keeps(c)),
          c.e.reduce(Reduction::Max, x, dims, keeps(c))};
}

// The `place`-th smallest element (from 0) of a dim, and its index.
Results ranked(OpCall &c, Array x, int64_t dim, const Polynomial &place, bool keep) {
  emit::Ordered ordered = emit::sort(c.e, x, dim, /*descending=*/false);
  auto pick = [&](Array array) {
    Array one = c.e.slice(array, dim, place, 1);
    return keep ? one : c.e.dropDim(one, dim);
  };
  return {pick(ordered.values), pick(ordered.indices)};
}
Results kthValue(OpCall &c) {
  Array x = c.tensor("self");
  return ranked(c, x, c.dim("dim", rankOf(x)), c.integer("k") - Polynomial(1), keeps(c));
}
// For an even number of elements, the lower of the two in the middle.
Results median(OpCall &c) {
  Array x = c.tensor("self");
  int64_t dim = c.dim("dim", rankOf(x));
  return ranked(c, x, dim, (shapeOf(x)[dim] - Polynomial(1)).floorDividedBy(2), keeps(c));
}
// All elements that equal the median share its gradient.
Results medianOfAll(OpCall &c) {
  Array x = c.tensor("self");
  Polynomial count = emit::product(shapeOf(x)), half = (count - Polynomial(1)).floorDividedBy(2);
  x = c.e.reshape(x, {count});
  Array middle = c.e.slice(emit::sort(c.e, x, 0, /*descending=*/false).values, 0, half, 1);
  if (!isFloating(x))
    return c.e.dropDim(middle, 0);
  Array isMiddle = c.e.compare(Predicate::EQ, x, stopped(c.e, c.e.broadcast(middle, {count})));
  Array isEqual = c.e.binary<graph::OrOp>(isMiddle, emit::isNan(c.e, x));
  Array lowest = c.e.splat(x, -std::numeric_limits<double>::infinity());
  return c.e.reduce(Reduction::Max, c.e.select(isEqual, x, lowest), {0});
}

// -- what is no number left out -------------------------------------------------------------------
Results sumOfNumbers(OpCall &c) {
  Array x = c.cast(c.tensor("self"), sumType(c, c.tensor("self")));
  if (isFloating(x))
    x = c.e.select(emit::isNan(c.e, x), c.e.splat(x, 0), x);
  return c.e.reduce(Reduction::Sum, x, reducedDims(c, x), keeps(c));
}
Results meanOfNumbers(OpCall &c) {
  Array x = c.castIf(c.tensor("self"), c.dtype());
  c.e.checkFloat(x);
  Array isNone = emit::isNan(c.e, x), zero = c.e.splat(x, 0);
  auto sum = [&](Array values) {
    return c.e.reduce(Reduction::Sum, values, reducedDims(c, x), keeps(c));
  };
  Array count = sum(c.e.select(isNone, zero, c.e.splat(x, 1)));
  return c.e.div(sum(c.e.select(isNone, zero, x)), count);
}

// Sums over the dims that have size 1 in the given shape or are missing there.
Results sumToSize(OpCall &c) {
  Array x = c.tensor("self");
  Sizes shape = shapeOf(x), to = c.integers("size");
  if (shape == to)
    return c["self"];
  if (to.size() > shape.size())
    fail("sums ", emit::showShape(shape), " to ", emit::showShape(to));
  size_t more = shape.size() - to.size();
  Ints dims;
  for (size_t i = 0; i < shape.size(); ++i)
    if (i < more || (to[i - more] == Polynomial(1) && shape[i] != Polynomial(1)))
      dims.push_back(static_cast<int64_t>(i));
  return c.e.reshape(dims.empty() ? x : c.e.reduce(Reduction::Sum, x, dims), to);
}

// -- moments --------------------------------------------------------------------------------------
// `unbiased` or `correction`, whichever the form has.
double correctionOf(OpCall &c) { return c.has("correction") ? c.number("correction") : 1; }
double biasOf(OpCall &c) { return c.boolean("unbiased") ? 1 : 0; }

using Moment = Array (*)(const emit::Emitter &, Array, const Ints &, double, bool);
template <Moment moment, double (*correction)(OpCall &)> Results spread(OpCall &c) {
  Array x = c.floats("self");
  return moment(c.e, x, reducedDims(c, x), correction(c), keeps(c));
}
template <Moment moment, double (*correction)(OpCall &)> Results spreadAndMean(OpCall &c) {
  Array x = c.floats("self");
  Ints dims = reducedDims(c, x);
  return {moment(c.e, x, dims, correction(c), keeps(c)), c.e.mean(x, dims, keeps(c))};
}

// -- norms ----------------------------------------------------------------------------------------
Results normBy(OpCall &c, double p) {
  Array x = c.castIf(c.floats("self"), c.dtype());
  return emit::norm(c.e, x, p, reducedDims(c, x), keeps(c));
}
Results frobeniusNorm(OpCall &c) { return normBy(c, 2); }
Results norm(OpCall &c) { return normBy(c, c.has("p") ? c.number("p") : 2); }
// The largest element of the last dim of |x|. All elements of that size get its whole gradient.
Array largestDistance(OpCall &c, Array x) {
  Array size = c.e.abs(x);
  Ints last{rankOf(x) - 1};
  Array most = c.e.reduce(Reduction::Max, size, last, /*keep=*/true);
  Array isMost = c.e.compare(Predicate::EQ, size, c.e.broadcast(most, shapeOf(x)));
  Array all = c.e.select(isMost, size, c.e.splat(size, 0));
  return withGradientOf(c.e, c.e.reduce(Reduction::Sum, all, last, /*keep=*/true), most);
}

// The norms of the last dim, by the argument `p`. Rows of zeros, where a norm has no slope, get no
// gradient.
Array distancesOf(OpCall &c, Array apart) {
  double p = c.number("p");
  if (p < 0)
    fail("has a norm of power ", p, ", expected at least 0");
  int64_t last = rankOf(apart) - 1;
  Array most = c.e.reduce(Reduction::Max, c.e.abs(apart), {last}, /*keep=*/true);
  Array isSame = c.e.compare(Predicate::EQ, most, 0.0);
  apart = c.e.select(c.e.broadcast(isSame, shapeOf(apart)), c.e.splat(apart, 1), apart);
  Array norms =
      std::isinf(p) ? largestDistance(c, apart) : emit::norm(c.e, apart, p, {last}, /*keep=*/true);
  return c.e.dropDim(c.e.select(isSame, c.e.splat(norms, 0), norms), last);
}

// Distances from each row of x1 to each row of x2.
Results distances(OpCall &c) {
  Array a = c.floats("x1"), b = c.floats("x2");
  a = c.e.insertDim(a, rankOf(a) - 1);
  b = c.e.insertDim(b, rankOf(b) - 2);
  c.e.broadcastTogether(a, b);
  return distancesOf(c, c.e.sub(a, b));
}

// Distances between the rows of one matrix, once per pair.
Results distancesOfPairs(OpCall &c) {
  Array x = c.floats("self");
  c.e.checkRank(x, 2);
  int64_t rows = c.e.number(shapeOf(x)[0], "the number of rows");
  if (rows > (int64_t(1) << 12))
    fail("has ", rows, " rows, expected at most 4096");
  Tensor first(ElementType::I64, {rows * (rows - 1) / 2}), second = first;
  int64_t pair = 0;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = i + 1; j < rows; ++j, ++pair) {
      first.values[pair] = static_cast<double>(i);
      second.values[pair] = static_cast<double>(j);
    }
  Array a = c.e.gather(x, c.e.constant(first), 0), b = c.e.gather(x, c.e.constant(second), 0);
  return distancesOf(c, c.e.sub(a, b));
}

// The norm of the difference, of all elements or row by row.
Results distance(OpCall &c) {
  Array x = c.floats("self"), y = c.floats("other");
  c.e.broadcastTogether(x, y);
  return emit::norm(c.e, c.e.sub(x, y), c.number("p"), emit::dimsFrom(0, rankOf(x)), false);
}
Results pairwiseDistance(OpCall &c) {
  return emit::pairwiseDistance(c.e, c.floats("x1"), c.floats("x2"), c.number("p"), c.number("eps"),
                                keeps(c));
}

// The parts along `dim` scaled down to norms of at most `maxnorm`.
Results renormalised(OpCall &c) {
  Array x = c.floats("self");
  const int64_t dim = c.dim("dim", rankOf(x));
  const double most = c.number("maxnorm");
  Ints others = emit::dimsFrom(0, rankOf(x));
  others.erase(others.begin() + dim);
  Array norm = emit::norm(c.e, x, c.number("p"), others, /*keep=*/true);
  Array factor = c.e.div(most, c.e.add(norm, 1e-7));
  Array isLarge = c.e.compare(Predicate::GT, norm, most);
  factor = c.e.select(isLarge, factor, c.e.splat(factor, 1));
  return c.e.mul(x, c.e.broadcast(factor, shapeOf(x)));
}

// Matrix norms: only the Frobenius norm, which equals the vector norm.
Results matrixNorm(OpCall &c) {
  const IValue &order = c["ord"];
  if (order.isString() ? order.string() != "fro" : !order.isNone())
    fail("takes another norm of matrices than Frobenius', which Cleave does not do");
  Array x = c.castIf(c.floats("self"), c.dtype());
  bool isGiven = c.has("dim") && !(c["dim"].isList() && c["dim"].items().empty());
  Ints dims =
      isGiven ? reducedDims(c, x) : emit::dimsFrom(std::max<int64_t>(rankOf(x) - 2, 0), rankOf(x));
  return emit::norm(c.e, x, 2, dims, keeps(c));
}
// Vector norms over all elements or one dim.
Results linalgNorm(OpCall &c) {
  const IValue &order = c["ord"];
  int64_t dims =
      c.has("dim") ? static_cast<int64_t>(c.plainIntegers("dim").size()) : rankOf(c.tensor("self"));
  if (order.isString() || (!order.isNone() && dims > 1))
    return matrixNorm(c);
  return normBy(c, order.isNone() ? 2 : c.number("ord"));
}
Results vectorNorm(OpCall &c) { return normBy(c, c.number("ord")); }

Results logSumExp(OpCall &c) {
  Array x = c.floats("self");
  return emit::summarise(c.e, emit::Summary::LogSumExp, x, reducedDims(c, x), keeps(c));
}

Results cosineSimilarity(OpCall &c) {
  Array x = c.floats("x1"), y = c.floats("x2");
  c.e.broadcastTogether(x, y);
  Ints dim{c.dim("dim", rankOf(x))};
  // A norm below eps keeps its own gradient.
  auto size = [&](Array z) {
    Array norm = emit::norm(c.e, z, 2, dim, /*keep=*/false);
    return withGradientOf(c.e, norm, c.e.max(norm, c.number("eps")));
  };
  Array product = c.e.reduce(Reduction::Sum, c.e.mul(x, y), dim);
  return c.e.div(product, c.e.mul(size(x), size(y)));
}

#define CLEAVE_DIM "i[]? dim=None, b keepdim=False"
constexpr const char *kSum = "T self, " CLEAVE_DIM ", *, i? dtype=None";
constexpr const char *kSumAll = "T self, *, i? dtype=None, any dim=None, b keepdim=False";
constexpr const char *kDims = "T self, " CLEAVE_DIM;
constexpr const char *kPosition = "T self, i? dim=None, b keepdim=False";
constexpr const char *kWhole = "T self, *, any dim=None, b keepdim=False";
constexpr const char *kAlong = "V self, i dim, b keepdim=False";
constexpr const char *kBias = "T self, b unbiased=True, any dim=None, b keepdim=False";
constexpr const char *kBiasDim = "T self, i[]? dim, b unbiased=True, b keepdim=False";
constexpr const char *kCorrection = "T self, i[]? dim=None, *, s? correction=None, b keepdim=False";

// How many elements are in each of equal parts of [min, max], whose last one has max, too.
Results histogram(OpCall &c) {
  Array x = c.tensor("self");
  const ElementType type = typeOf(x);
  const double min = c.number("min"), max = c.number("max");
  const Polynomial bins = c.integer("bins"), count = emit::product(shapeOf(x));
  if (!(min < max))
    fail("counts from ", min, " to ", max,
         ", expected bounds that do not depend on data: min < max");
  x = c.toFloat(c.e.reshape(x, {count}));
  Array part = c.e.div(c.e.mul(c.e.sub(x, min), c.e.splatSize(x, bins)), max - min);
  part = c.e.unary<graph::FloorOp>(part);
  Array last = c.e.min(part, c.e.splatSize(part, bins - Polynomial(1)));
  part = c.e.select(c.e.compare(Predicate::LE, x, max), last, part);
  const Sizes pairs = {count, bins};
  Array hit = c.e.compare(Predicate::EQ, c.e.iota(pairs, 1, elementTypeOf(part)),
                          c.e.broadcast(c.e.insertDim(part, 1), pairs));
  return c.e.reduce(Reduction::Sum, c.cast(hit, type), {0});
}

constexpr OpEntry kReductionOps[] = {
    {"_cdist_forward", "T x1, T x2, f p, i? compute_mode=None", distances},
    {"all", kDims, logic<emit::Summary::All>},
    {"amax", kDims, minMax<Reduction::Max>},
    {"amin", kDims, minMax<Reduction::Min>},
    {"aminmax", "T self, *, i? dim=None, b keepdim=False", minAndMax},
    {"any", kDims, logic<emit::Summary::Any>},
    {"argmax", kPosition, position<true>},
    {"argmin", kPosition, position<false>},
    {"cdist", "T x1, T x2, f p=2, i? compute_mode=None", distances},
    {"cosine_similarity", "T x1, T x2, i dim=1, f eps=1e-8", cosineSimilarity},
    {"count_nonzero", "T self, i[]? dim=None", countNonzero},
    {"dist", "T self, T other, s p=2", distance},
    {"frobenius_norm", "T self, i[]? dim=None, b keepdim=False, *, i? dtype=None", frobeniusNorm},
    {"histc", "T self, i bins=100, s min=0, s max=0", histogram},
    {"kthvalue", "V self, i k, i dim=-1, b keepdim=False", kthValue},
    {"linalg_matrix_norm", "T self, any ord='fro', i[] dim=[], b keepdim=False, *, i? dtype=None",
     matrixNorm},
    {"linalg_norm", "T self, any ord=None, i[]? dim=None, b keepdim=False, *, i? dtype=None",
     linalgNorm},
    {"linalg_vector_norm", "T self, s ord=2, i[]? dim=None, b keepdim=False, *, i? dtype=None",
     vectorNorm},
    {"logsumexp", kDims, logSumExp},
    {"max", kAlong, minMaxAndPosition<true>},
    {"max", kWhole, minMax<Reduction::Max>},
    {"mean", kSum, mean},
    {"mean", kSumAll, mean},
    {"median", kAlong, median},
    {"median", "T self", medianOfAll},
    {"min", kAlong, minMaxAndPosition<false>},
    {"min", kWhole, minMax<Reduction::Min>},
    {"nanmean", kSum, meanOfNumbers},
    {"nansum", kSum, sumOfNumbers},
    {"norm", "T self, s? p, i[] dim, b keepdim=False, *, i? dtype=None", norm},
    {"norm", "T self, s? p=2, *, i? dtype=None, any dim=None, b keepdim=False", norm},
    {"pairwise_distance", "T x1, T x2, f p=2, f eps=1e-6, b keepdim=False", pairwiseDistance},
    {"_pdist_forward", "T self, f p=2", distancesOfPairs},
    {"pdist", "T self, f p=2", distancesOfPairs},
    {"prod", kSumAll, prod},
    {"prod", "T self, i dim, b keepdim=False, *, i? dtype=None", prod},
    {"renorm", "T self, s p, i dim, s maxnorm", renormalised},
    {"std", kBias, spread<emit::standardDeviation, biasOf>},
    {"std", kBiasDim, spread<emit::standardDeviation, biasOf>},
    {"std", kCorrection, spread<emit::standardDeviation, correctionOf>},
    {"std_mean", kBias, spreadAndMean<emit::standardDeviation, biasOf>},
    {"std_mean", kBiasDim, spreadAndMean<emit::standardDeviation, biasOf>},
    {"std_mean", kCorrection, spreadAndMean<emit::standardDeviation, correctionOf>},
    {"sum", kSum, sum},
    {"sum", kSumAll, sum},
    {"sum_to_size", "T self, i[] size", sumToSize},
    {"var", kBias, spread<emit::variance, biasOf>},
    {"var", kBiasDim, spread<emit::variance, biasOf>},
    {"var", kCorrection, spread<emit::variance, correctionOf>},
    {"var_mean", kBias, spreadAndMean<emit::variance, biasOf>},
    {"var_mean", kBiasDim, spreadAndMean<emit::variance, biasOf>},
    {"var_mean", kCorrection, spreadAndMean<emit::variance, correctionOf>},
};

} // namespace

llvm::ArrayRef<OpEntry> reductionOps() { return kReductionOps; }

} // namespace cleave::aten
