// Normalization: softmax and the norms. Scales and biases that are not given are null.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

Value softmax(const Emitter &e, Value x, int64_t dim);
Value logSoftmax(const Emitter &e, Value x, int64_t dim);

// x with mean 0 and variance 1 over `over`; also the mean and 1 / sqrt(variance + epsilon), with
// those dims of size 1.
struct Normalised {
  Value value, mean, invertedDeviation;
};
Normalised normalise(const Emitter &e, Value x, const Ints &over, double epsilon);

// Over the dims from `axis` on; scale and bias of their shape, or broadcast to it.
Value layerNorm(const Emitter &e, Value x, int64_t axis, Value scale, Value bias, double epsilon);
Value rmsNorm(const Emitter &e, Value x, int64_t axis, Value scale, double epsilon);

// Over the spatial dims and, for groups, the channels of a group of N C …; scale and bias per
// channel.
Value instanceNorm(const Emitter &e, Value x, Value scale, Value bias, double epsilon);
Value groupNorm(const Emitter &e, Value x, int64_t groups, Value scale, Value bias, double epsilon);

// Per channel (dim 1), with given statistics.
Value frozenBatchNorm(const Emitter &e, Value x, Value scale, Value bias, Value mean,
                      Value variance, double epsilon);
// With the batch's statistics. `momentum` weighs the new value, as in PyTorch (ONNX: the old one);
// the running variance moves towards the unbiased one.
struct TrainedBatchNorm {
  Value value, newMean, newVariance;
};
TrainedBatchNorm trainedBatchNorm(const Emitter &e, Value x, Value scale, Value bias, Value mean,
                                  Value variance, double epsilon, double momentum);

// x over the p-norm (1 or 2) along one dim; 0 where the norm is 0.
Value lpNormalise(const Emitter &e, Value x, int64_t dim, int64_t p);
// x / (bias + alpha / size * sum of squares over `size` neighbouring channels)^beta.
Value localResponseNorm(const Emitter &e, Value x, int64_t size, double alpha, double beta,
                        double bias);

} // namespace cleave::emit
