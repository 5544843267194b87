// Normalization: softmax and norms. Absent scales and biases are null.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// Softmax along `dim`, and its logarithm.
Value softmax(const Emitter &e, Value x, int64_t dim);
Value logSoftmax(const Emitter &e, Value x, int64_t dim);

// `value`: x shifted and scaled to mean 0 and variance 1 over the dims `over`; `mean` and
// `invertedDeviation` = 1 / sqrt(variance + epsilon) keep these dims with size 1.
struct Normalised {
  Value value, mean, invertedDeviation;
};
Normalised normalise(const Emitter &e, Value x, const Ints &over, double epsilon);

// Norms over the dims from `axis` on; scale and bias broadcast to these dims.
Value layerNorm(const Emitter &e, Value x, int64_t axis, Value scale, Value bias, double epsilon);
Value rmsNorm(const Emitter &e, Value x, int64_t axis, Value scale, double epsilon);

// Norms of [N, C, spatial…] over the spatial dims and, for groupNorm, the channels of a group;
// scale and bias are [C].
Value instanceNorm(const Emitter &e, Value x, Value scale, Value bias, double epsilon);
Value groupNorm(const Emitter &e, Value x, int64_t groups, Value scale, Value bias, double epsilon);

// Batch norm with the given statistics, all [channels]; channels are dim 1 of x.
Value frozenBatchNorm(const Emitter &e, Value x, Value scale, Value bias, Value mean,
                      Value variance, double epsilon);
// Batch norm with the statistics of the batch; `mean` and `variance` are the running ones, which
// move by `momentum` towards the new ones (PyTorch's meaning; ONNX: 1 - momentum). The running
// variance moves towards the unbiased one.
struct TrainedBatchNorm {
  Value value, newMean, newVariance;
};
TrainedBatchNorm trainedBatchNorm(const Emitter &e, Value x, Value scale, Value bias, Value mean,
                                  Value variance, double epsilon, double momentum);

// x / its p-norm (p = 1 or 2) along `dim`; 0 where the norm is 0.
Value lpNormalise(const Emitter &e, Value x, int64_t dim, int64_t p);
// x / (bias + alpha / size · sum of squares over `size` neighbouring channels)^beta.
Value localResponseNorm(const Emitter &e, Value x, int64_t size, double alpha, double beta,
                        double bias);

} // namespace cleave::emit
