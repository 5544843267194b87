// See Loss.h.
#include "compiler/frontend/emit/Loss.h"

#include "compiler/frontend/emit/Activation.h"

#include <limits>

namespace cleave::emit {

using namespace graph;

namespace {

int64_t classDimOf(Value scores, const ClassLossOptions &options) {
  return options.classDim.value_or(rankOf(scores) > 1 ? 1 : 0);
}

void check(const Emitter &e, Value scores, Value labels, const ClassLossOptions &options) {
  e.checkFloat(scores);
  e.checkInteger(labels, "labels");
  e.checkRank(scores, 1);
  int64_t dim = classDimOf(scores, options);
  e.checkDim(dim, rankOf(scores));
  Sizes expected = shapeOf(scores);
  Polynomial classes = expected[dim];
  expected.erase(expected.begin() + dim);
  if (shapeOf(labels) != expected)
    fail("has labels ", showShape(shapeOf(labels)), ", expected ", showShape(expected));
  if (options.weights && shapeOf(options.weights) != Sizes{classes})
    fail("has weights ", showShape(shapeOf(options.weights)), ", expected one per class, ",
         classes.str());
}

Value isCounted(const Emitter &e, Value labels, const ClassLossOptions &options) {
  return e.compare(Predicate::NE, labels, static_cast<double>(*options.ignored));
}

// The labels, with class 0 for ignored ones, which may be out of range.
Value classesOf(const Emitter &e, Value labels, const ClassLossOptions &options) {
  return options.ignored ? e.select(isCounted(e, labels, options), labels, e.splat(labels, 0))
                         : labels;
}

} // namespace

Value positionWeights(const Emitter &e, Value labels, mlir::Type element,
                      const ClassLossOptions &options) {
  Value weights;
  if (options.weights)
    weights = e.gather(options.weights, classesOf(e, labels, options), 0);
  if (!options.ignored)
    return weights;
  Value counts = e.cast(isCounted(e, labels, options), element);
  return weights ? e.mul(weights, counts) : counts;
}

namespace {

// Reduces like reduced(), with a weighted mean. `isOfWeights`: there are class weights or label
// smoothing. Without them the division stays plain, since passes/simplify matches it as the mean.
Value weighted(const Emitter &e, Value loss, Value weights, LossReduction reduction,
               bool isOfWeights) {
  if (!weights || reduction != LossReduction::Mean)
    return reduced(e, loss, reduction);
  Ints all = dimsFrom(0, rankOf(loss));
  Value sum = e.reduce(Reduction::Sum, loss, all), weight = e.reduce(Reduction::Sum, weights, all);
  if (!isOfWeights)
    return e.div(sum, weight);
  // Without any weight the mean is no number, and its gradient 0.
  Value isAny = e.compare(Predicate::GT, weight, 0.0);
  Value mean = e.div(sum, e.select(isAny, weight, e.splat(weight, 1)));
  return e.select(isAny, mean, e.splat(mean, std::numeric_limits<double>::quiet_NaN()));
}

// The mean of -log p over classes, weighted by the class weights if given.
Value smoothLoss(const Emitter &e, Value logProbabilities, Value labels,
                 const ClassLossOptions &options) {
  int64_t dim = classDimOf(logProbabilities, options);
  Value terms = logProbabilities;
  if (options.weights) {
    Sizes column(rankOf(terms), Polynomial(1));
    column[dim] = shapeOf(terms)[dim];
    terms = e.mul(terms, e.broadcast(e.reshape(options.weights, column), shapeOf(terms)));
  }
  Value loss = e.neg(e.mean(terms, {dim}));
  ClassLossOptions counting;
  counting.ignored = options.ignored;
  Value counts = positionWeights(e, labels, elementOf(loss), counting);
  return counts ? e.mul(loss, counts) : loss;
}

} // namespace

Value reduced(const Emitter &e, Value losses, LossReduction reduction) {
  Ints all = dimsFrom(0, rankOf(losses));
  if (reduction == LossReduction::None)
    return losses;
  return reduction == LossReduction::Mean ? e.mean(losses, all)
                                          : e.reduce(Reduction::Sum, losses, all);
}

Value negativeLogLikelihood(const Emitter &e, Value logProbabilities, Value labels,
                            const ClassLossOptions &options) {
  check(e, logProbabilities, labels, options);
  int64_t dim = classDimOf(logProbabilities, options);
  Value classes = classesOf(e, labels, options);
  Value chosen = buildGatherAlong(e.b, logProbabilities, e.insertDim(classes, dim), dim);
  Value loss = e.neg(e.dropDim(chosen, dim));
  Value weights = positionWeights(e, labels, elementOf(loss), options);
  if (weights)
    loss = e.mul(loss, weights);
  const bool isOfWeights = bool(options.weights) || options.smoothing != 0;
  Value result = weighted(e, loss, weights, options.reduction, isOfWeights);
  if (options.smoothing == 0)
    return result;
  Value smooth = weighted(e, smoothLoss(e, logProbabilities, labels, options), weights,
                          options.reduction, isOfWeights);
  return e.add(e.mul(result, 1 - options.smoothing), e.mul(smooth, options.smoothing));
}

Value crossEntropy(const Emitter &e, Value logits, Value labels, const ClassLossOptions &options) {
  check(e, logits, labels, options);
  int64_t dim = classDimOf(logits, options), rank = rankOf(logits);
  bool isPlain = rank > 1 && !options.weights && options.reduction == LossReduction::Mean &&
                 options.smoothing == 0;
  if (!isPlain)
    return negativeLogLikelihood(e, LogSoftmaxOp::create(e.b, e.loc, logits.getType(), logits, dim),
                                 labels, options);
  Ints classesLast;
  for (int64_t d = 0; d < rank; ++d)
    if (d != dim)
      classesLast.push_back(d);
  classesLast.push_back(dim);
  return SoftmaxCrossEntropyOp::create(e.b, e.loc, e.transpose(logits, classesLast), labels,
                                       options.ignored.value_or(-100));
}

// (1 - t) x - (1 + (w - 1) t) log(sigmoid(x)).
Value binaryCrossEntropyOfLogits(const Emitter &e, Value x, Value target, Value posWeight) {
  Value logarithm = logSigmoid(e, x);
  if (posWeight) {
    Value weight = e.broadcast(posWeight, shapeOf(x));
    logarithm = e.mul(logarithm, e.add(e.mul(e.sub(weight, 1.0), target), 1.0));
  }
  return e.sub(e.mul(e.sub(1.0, target), x), logarithm);
}

Value huber(const Emitter &e, Value x, Value target, double bound) {
  Value way = e.sub(x, target), size = e.abs(way);
  if (bound == 0)
    return size;
  Value near = e.mul(e.mul(way, way), 0.5), far = e.mul(e.sub(size, bound / 2), bound);
  return e.select(e.compare(Predicate::LT, size, bound), near, far);
}

Value smoothAbsolute(const Emitter &e, Value x, Value target, double bound) {
  Value losses = huber(e, x, target, bound);
  return bound == 0 ? losses : e.div(losses, bound);
}

} // namespace cleave::emit
