// See Normalization.h.
#include "compiler/frontend/emit/Normalization.h"

#include "compiler/frontend/emit/Convolution.h"
#include "compiler/frontend/emit/Root.h"

namespace cleave::emit {

using namespace graph;

Value softmax(const Emitter &e, Value x, int64_t dim) {
  e.checkFloat(x);
  return SoftmaxOp::create(e.b, e.loc, x.getType(), x, dim);
}

Value logSoftmax(const Emitter &e, Value x, int64_t dim) {
  e.checkFloat(x);
  return LogSoftmaxOp::create(e.b, e.loc, x.getType(), x, dim);
}

Normalised normalise(const Emitter &e, Value x, const Ints &over, double epsilon) {
  Normalised out;
  out.mean = e.mean(x, over, /*keep=*/true);
  Value centred = e.sub(x, e.broadcast(out.mean, shapeOf(x)));
  Value variance = e.mean(e.mul(centred, centred), over, /*keep=*/true);
  out.invertedDeviation = e.unary<RsqrtOp>(e.add(variance, epsilon));
  out.value = e.mul(centred, e.broadcast(out.invertedDeviation, shapeOf(x)));
  return out;
}

// -- over the last dims ---------------------------------------------------------------------------

static Sizes dimsFrom(Value x, int64_t axis) {
  Sizes dims = shapeOf(x);
  return Sizes(dims.begin() + axis, dims.end());
}

// A scale or bias broadcast to the normalised dims; `absent` everywhere if it is null.
static Value parameterOf(const Emitter &e, Value x, int64_t axis, Value value, double absent) {
  Sizes last = dimsFrom(x, axis);
  if (!value)
    return e.splat(last, elementOf(x), absent);
  e.checkSameType(x, value);
  return e.broadcast(value, last);
}

Value layerNorm(const Emitter &e, Value x, int64_t axis, Value scale, Value bias, double epsilon) {
  e.checkFloat(x);
  scale = parameterOf(e, x, axis, scale, 1);
  bias = parameterOf(e, x, axis, bias, 0);
  return LayerNormOp::create(e.b, e.loc, x.getType(), x, scale, bias, e.b.getF64FloatAttr(epsilon));
}

Value rmsNorm(const Emitter &e, Value x, int64_t axis, Value scale, double epsilon) {
  e.checkFloat(x);
  scale = parameterOf(e, x, axis, scale, 1);
  return RmsNormOp::create(e.b, e.loc, x.getType(), x, scale, e.b.getF64FloatAttr(epsilon));
}

// -- per channel ----------------------------------------------------------------------------------

static Value scaleAndShift(const Emitter &e, Value x, Value scale, Value bias) {
  for (Value value : {scale, bias})
    if (value)
      e.checkSameType(x, value);
  if (scale)
    x = e.mul(x, perChannel(e, scale, x));
  return bias ? e.add(x, perChannel(e, bias, x)) : x;
}

Value instanceNorm(const Emitter &e, Value x, Value scale, Value bias, double epsilon) {
  e.checkFloat(x);
  e.checkRank(x, 3);
  Value normal = normalise(e, x, emit::dimsFrom(2, rankOf(x)), epsilon).value;
  return scaleAndShift(e, normal, scale, bias);
}

Value groupNorm(const Emitter &e, Value x, int64_t groups, Value scale, Value bias,
                double epsilon) {
  e.checkFloat(x);
  e.checkRank(x, 2);
  Sizes dims = shapeOf(x);
  std::optional<Polynomial> channels = groups < 1 ? std::nullopt : dims[1].dividedBy(groups);
  if (!channels)
    fail("has data ", showShape(dims), " in ", groups, " groups: the channels do not fit");
  Polynomial inner = *channels * product(dims.dropFront(2));
  Value grouped = e.reshape(x, {dims[0], groups, inner});
  Value normal = e.reshape(normalise(e, grouped, {2}, epsilon).value, dims);
  return scaleAndShift(e, normal, scale, bias);
}

static void checkStatistics(const Emitter &e, Value x, std::initializer_list<Value> values) {
  e.checkFloat(x);
  for (Value value : values) {
    e.checkSameType(x, value);
    perChannel(e, value, x); // only for its check; the unused ops are removed
  }
}

Value frozenBatchNorm(const Emitter &e, Value x, Value scale, Value bias, Value mean,
                      Value variance, double epsilon) {
  checkStatistics(e, x, {mean, variance});
  Value factor = e.unary<RsqrtOp>(e.add(variance, epsilon));
  if (scale) {
    checkStatistics(e, x, {scale});
    factor = e.mul(factor, scale);
  }
  Value centred = e.sub(x, perChannel(e, mean, x));
  return scaleAndShift(e, centred, factor, bias);
}

TrainedBatchNorm trainedBatchNorm(const Emitter &e, Value x, Value scale, Value bias, Value mean,
                                  Value variance, double epsilon, double momentum) {
  checkStatistics(e, x, {mean, variance});
  scale = scale ? scale : e.splat(mean, 1);
  bias = bias ? bias : e.splat(mean, 0);
  checkStatistics(e, x, {scale, bias});
  mlir::Type moments = mean.getType();
  auto op = BatchNormOp::create(e.b, e.loc, mlir::TypeRange{x.getType(), moments, moments}, x,
                                scale, bias, mean, variance, e.b.getF64FloatAttr(epsilon),
                                e.b.getF64FloatAttr(momentum));
  return {op.getResult(), op.getNewMean(), op.getNewVar()};
}

// -- others ---------------------------------------------------------------------------------------

Value lpNormalise(const Emitter &e, Value x, int64_t dim, int64_t p) {
  e.checkFloat(x);
  if (p != 1 && p != 2)
    fail("has a norm of power ", p, ", expected 1 or 2");
  Value powers = p == 1 ? e.abs(x) : e.mul(x, x);
  Value norm = e.reduce(Reduction::Sum, powers, {dim}, /*keep=*/true);
  if (p == 2)
    norm = flatRoot(e, norm);
  norm = e.select(e.compare(Predicate::EQ, norm, 0), e.splat(norm, 1),
                  norm); // rows of zeros stay zero
  return e.div(x, e.broadcast(norm, shapeOf(x)));
}

Value localResponseNorm(const Emitter &e, Value x, int64_t size, double alpha, double beta,
                        double bias) {
  e.checkFloat(x);
  e.checkRank(x, 2);
  if (size < 1 || size > 1024)
    fail("sums over ", size, " channels, expected 1 to 1024");
  Polynomial channels = shapeOf(x)[1];
  Value padded = e.pad(e.mul(x, x), 1, (size - 1) / 2, size / 2);
  Value sum = e.slice(padded, 1, 0, channels);
  for (int64_t i = 1; i < size; ++i)
    sum = e.add(sum, e.slice(padded, 1, i, channels));
  Value base = e.add(e.mul(sum, alpha / static_cast<double>(size)), bias);
  return e.mul(x, PowOp::create(e.b, e.loc, base, e.splat(base, -beta)));
}

} // namespace cleave::emit
