// Random numbers, and dropout. Draws of a given probability are dropouts of ones: a training step
// draws them, and elsewhere they are their mean (emit::drawOnes). Others are drawn in every run.
#include "compiler/frontend/emit/Random.h"
#include "compiler/frontend/aten/OpCall.h"
#include "compiler/frontend/emit/Ordering.h"
#include "compiler/frontend/step/RandomKeys.h"

#include <cmath>
#include <numbers>

namespace cleave::aten {
namespace {

Array nextKey(OpCall &c) {
  if (!c.context.random)
    fail("draws random numbers, which this program cannot");
  return c.context.random->next();
}

// Writes new elements to the argument `self`, converted to its type.
Results written(OpCall &c, Array elements) {
  Array converted = c.cast(elements, typeOf(c.tensor("self")));
  c.handle("self")->write(c.e, converted, c.context.gradients);
  return c["self"];
}

// -- of a probability -----------------------------------------------------------------------------
Array bernoulliLike(OpCall &c, Array like) {
  return emit::drawOnes(c.e, shapeOf(like), elementTypeOf(like), c.number("p"));
}
Results bernoulli(OpCall &c) { return bernoulliLike(c, c.floats("self")); }
Results bernoulliInPlace(OpCall &c) { return written(c, bernoulliLike(c, c.floats("self"))); }
// Each element with its own probability.
Array bernoulliOf(OpCall &c, Array p) { return emit::bernoulli(c.e, p, nextKey(c)); }
Results bernoulliOfSelf(OpCall &c) {
  Array p = c.floats("self");
  return c.cast(bernoulliOf(c, p), typeOf(p));
}
Results bernoulliOfEach(OpCall &c) {
  Array p = c.e.broadcast(c.floats("p"), shapeOf(c.tensor("self")));
  return written(c, bernoulliOf(c, p));
}

// -- of a distribution ----------------------------------------------------------------------------
using Draw = Array (*)(const emit::Emitter &, const Sizes &, Array key, double, double);

template <Draw draw>
Array drawn(OpCall &c, const Sizes &shape, ElementType type, double a, double b) {
  return c.cast(draw(c.e, shape, nextKey(c), a, b), type);
}
template <Draw draw> Results drawnNew(OpCall &c) {
  return drawn<draw>(c, c.integers("size"), c.dtype().value_or(c.defaultFloat()), 0, 1);
}
// Draws for the in-place operators, as tensors of the type and shape of `self`. The names of
// operators that write them end in `_`.
template <Draw draw> Array drawnFor(OpCall &c, double a = 0, double b = 1) {
  Array x = c.floats("self");
  return drawn<draw>(c, shapeOf(x), typeOf(x), a, b);
}
template <Draw draw> Results drawnLike(OpCall &c) {
  Array like = c.tensor("self");
  return drawn<draw>(c, shapeOf(like), c.dtype().value_or(typeOf(like)), 0, 1);
}
Results uniform(OpCall &c) { return drawnFor<emit::uniform>(c, c.number("from"), c.number("to")); }
Results normal(OpCall &c) { return drawnFor<emit::normal>(c, c.number("mean"), c.number("std")); }
Results normalNew(OpCall &c) {
  return drawn<emit::normal>(c, c.integers("size"), c.dtype().value_or(c.defaultFloat()),
                             c.number("mean"), c.number("std"));
}
// Each element with its own mean or deviation, to which no gradient flows.
Results normalOfEach(OpCall &c) {
  const bool isMean = c["mean"].isTensor(), isDeviation = c["std"].isTensor();
  Array mean = isMean ? stopped(c.e, c.floats("mean")) : Array(),
        deviation = isDeviation ? stopped(c.e, c.floats("std")) : Array();
  Sizes shape = isMean && isDeviation ? emit::broadcastShape(shapeOf(mean), shapeOf(deviation))
                                      : shapeOf(isMean ? mean : deviation);
  Array out = drawn<emit::normal>(c, shape, typeOf(isMean ? mean : deviation), 0, 1);
  out = isDeviation ? c.e.mul(out, c.e.broadcast(deviation, shape)) : c.e.mul(out, c.number("std"));
  return isMean ? c.e.add(out, c.e.broadcast(mean, shape)) : c.e.add(out, c.number("mean"));
}
Results normalInPlace(OpCall &c) {
  return written(c, drawnFor<emit::normal>(c, c.number("mean"), c.number("std")));
}
Results logNormal(OpCall &c) {
  return c.e.unary<graph::ExpOp>(drawnFor<emit::normal>(c, c.number("mean"), c.number("std")));
}
// log(1 - u): minus an exponential distribution of the rate 1.
Array logOfUniform(OpCall &c) {
  return c.e.unary<graph::LogOp>(c.e.sub(1.0, drawnFor<emit::uniform>(c)));
}
Results exponential(OpCall &c) { return c.e.div(c.e.neg(logOfUniform(c)), c.number("lambd")); }
// The number of trials up to the first success.
Results geometric(OpCall &c) {
  Array trials = c.e.unary<graph::CeilOp>(c.e.div(logOfUniform(c), std::log1p(-c.number("p"))));
  return c.e.max(trials, 1.0);
}
// median + sigma tan(pi (u - 1/2)).
Results cauchy(OpCall &c) {
  Array angle = c.e.mul(c.e.sub(drawnFor<emit::uniform>(c), 0.5), std::numbers::pi);
  Array tangent = c.e.div(c.e.unary<graph::SinOp>(angle), c.e.unary<graph::CosOp>(angle));
  return c.e.add(c.e.mul(tangent, c.number("sigma")), c.number("median"));
}
// Integers in [low, high).
Array integersIn(OpCall &c, const Sizes &shape, ElementType type, int64_t low,
                 const char *end = "high") {
  int64_t high = c.plainInteger(end);
  if (high <= low)
    fail("draws integers from ", low, " to below ", high, ", expected at least one");
  Array numbers = emit::uniform(c.e, shape, nextKey(c), 0, static_cast<double>(high - low));
  Array whole = c.cast(c.e.unary<graph::FloorOp>(numbers), ElementType::I64);
  whole = c.e.min(whole, static_cast<double>(high - low - 1)); // products are rounded
  return c.cast(c.e.add(whole, static_cast<double>(low)), type);
}
Results randomIntegers(OpCall &c) {
  return integersIn(c, c.integers("size"), c.dtype().value_or(ElementType::I64), 0);
}
// Whole numbers below the end of the range.
Results randomBelow(OpCall &c) {
  Array x = c.tensor("self");
  return integersIn(c, shapeOf(x), typeOf(x), 0, "to");
}
Results randomBetween(OpCall &c) {
  Array x = c.tensor("self");
  return integersIn(c, shapeOf(x), typeOf(x), c.plainInteger("from"), "to");
}
Results randomIntegersFrom(OpCall &c) {
  return integersIn(c, c.integers("size"), c.dtype().value_or(ElementType::I64),
                    c.plainInteger("low"));
}

// A random order of 0, 1, …: that of random numbers.
Results permutation(OpCall &c) {
  Array numbers = emit::uniform(c.e, {c.integer("n")}, nextKey(c));
  Array order = emit::sort(c.e, numbers, 0, /*descending=*/false).indices;
  return c.cast(order, c.dtype().value_or(ElementType::I64));
}

// -- dropout --------------------------------------------------------------------------------------
// Whether a dropout keeps all elements; PyTorch then returns the operand itself, not a copy.
bool keepsAll(OpCall &c) { return !c.boolean("train") || c.number("p") == 0; }
Results dropout(OpCall &c) {
  if (keepsAll(c))
    return c["input"];
  return emit::dropout(c.e, c.tensor("input"), c.number("p"));
}
Results nativeDropout(OpCall &c) {
  Array x = c.tensor("input");
  bool trains = !c.has("train") || c.boolean("train");
  Array out = trains ? emit::dropout(c.e, x, c.number("p")) : x;
  if (trains && c.number("p") > 0) // the mask is not known before the step runs
    return IValueList{TensorState::create(out), IValue()};
  return {out, c.filled(shapeOf(x), ElementType::Bool, 1)};
}
// Drops whole channels: elements that agree in the first two dims.
Results featureDropout(OpCall &c) {
  if (keepsAll(c))
    return c["input"];
  Array x = c.floats("input");
  c.e.checkRank(x, 2);
  Sizes channels(rankOf(x), 1);
  channels[0] = shapeOf(x)[0];
  channels[1] = shapeOf(x)[1];
  Array ones = c.e.splat(channels, elementTypeOf(x), 1);
  return c.e.mul(x, c.e.broadcast(emit::dropout(c.e, ones, c.number("p")), shapeOf(x)));
}
// Dropouts that keep mean and variance, which are supported without training only.
Results alphaDropout(OpCall &c) {
  if (keepsAll(c))
    return c["input"];
  fail("drops elements in a way that Cleave does not do; use plain dropout, set its probability "
       "to 0, or export the model in eval mode");
}

#define CLEAVE_DRAWN_PLACE "any layout=None, any device=None, any pin_memory=None"

constexpr const char *kDropout = "T input, f p, b train";
constexpr const char *kDrawnSize =
    "i[] size, *, any generator=None, any names=None, i? dtype=None, " CLEAVE_DRAWN_PLACE;
constexpr const char *kDrawnLike =
    "T self, *, i? dtype=None, " CLEAVE_DRAWN_PLACE ", any memory_format=None";
constexpr const char *kIntegers =
    "i high, i[] size, *, any generator=None, i? dtype=None, " CLEAVE_DRAWN_PLACE;
constexpr const char *kIntegersFrom =
    "i low, i high, i[] size, *, any generator=None, i? dtype=None, " CLEAVE_DRAWN_PLACE;

constexpr OpEntry kRandomOps[] = {
    {"alpha_dropout", kDropout, alphaDropout},
    {"bernoulli", "T self, *, any generator=None", bernoulliOfSelf},
    {"bernoulli", "T self, f p, *, any generator=None", bernoulli},
    {"bernoulli_", "T self, f p=0.5, *, any generator=None", bernoulliInPlace},
    {"bernoulli_", "T self, T p, *, any generator=None", bernoulliOfEach},
    {"cauchy", "T self, f median=0.0, f sigma=1.0, *, any generator=None", cauchy},
    {"dropout", kDropout, dropout},
    {"exponential", "T self, f lambd=1.0, *, any generator=None", exponential},
    {"feature_alpha_dropout", kDropout, alphaDropout},
    {"feature_dropout", kDropout, featureDropout},
    {"geometric", "T self, f p, *, any generator=None", geometric},
    {"log_normal", "T self, f mean=1.0, f std=2.0, *, any generator=None", logNormal},
    {"native_dropout", "T input, f p, b? train", nativeDropout},
    {"normal", "f mean, f std, i[] size, *, any generator=None, i? dtype=None, " CLEAVE_DRAWN_PLACE,
     normalNew},
    {"normal", "T mean, f std=1.0, *, any generator=None", normalOfEach},
    {"normal", "f mean, T std, *, any generator=None", normalOfEach},
    {"normal", "T mean, T std, *, any generator=None", normalOfEach},
    {"normal_", "T self, f mean=0.0, f std=1.0, *, any generator=None", normalInPlace},
    {"normal_functional", "T self, f mean=0.0, f std=1.0, *, any generator=None", normal},
    {"rand", kDrawnSize, drawnNew<emit::uniform>},
    {"rand_like", kDrawnLike, drawnLike<emit::uniform>},
    {"randint", kIntegers, randomIntegers},
    {"randint", kIntegersFrom, randomIntegersFrom},
    {"randn", kDrawnSize, drawnNew<emit::normal>},
    {"randn_like", kDrawnLike, drawnLike<emit::normal>},
    {"randperm", "i n, *, any generator=None, i? dtype=4, " CLEAVE_DRAWN_PLACE, permutation},
    {"random", "T self, i to, *, any generator=None", randomBelow},
    {"random", "T self, i from, i to, *, any generator=None", randomBetween},
    {"uniform", "T self, f from=0.0, f to=1.0, *, any generator=None", uniform},
};

} // namespace

llvm::ArrayRef<OpEntry> randomOps() { return kRandomOps; }

} // namespace cleave::aten
