// Activation: functions of one float tensor, element by element, and their relatives.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// max(x, 0).
Value relu(const Emitter &e, Value x);
// min(max(x, low), high).
Value hardTanh(const Emitter &e, Value x, double low = -1, double high = 1);
// x within the bounds that are given. The slope is 0 at the bounds, too.
Value clamped(const Emitter &e, Value x, std::optional<double> low, std::optional<double> high);
// min(max(x, 0), 6).
inline Value relu6(const Emitter &e, Value x) { return hardTanh(e, x, 0, 6); }
// 1 / (1 + exp(-x)).
Value sigmoid(const Emitter &e, Value x);
// log(sigmoid(x)) without overflow.
Value logSigmoid(const Emitter &e, Value x);
// x sigmoid(alpha x): SiLU (swish) for alpha = 1, the quick GELU for 1.702.
Value silu(const Emitter &e, Value x, double alpha = 1);
// x times the normal cumulative distribution function, by erf or the tanh approximation.
Value gelu(const Emitter &e, Value x, bool byTanh = false);
// slope x below zero, else x. For prelu, `slope` has x's element type and broadcasts to its shape.
Value leakyRelu(const Emitter &e, Value x, double slope = 0.01);
Value prelu(const Emitter &e, Value x, Value slope);
// alpha (exp(x) - 1) below zero, else x.
Value elu(const Emitter &e, Value x, double alpha = 1);
// alpha (exp(x / alpha) - 1) below zero, else x.
Value celu(const Emitter &e, Value x, double alpha = 1);
// gamma elu(x, alpha).
Value selu(const Emitter &e, Value x, double alpha, double gamma);
// log(1 + exp(beta x)) / beta without overflow; x where beta x exceeds `threshold`.
Value softplus(const Emitter &e, Value x, double beta = 1,
               double threshold = std::numeric_limits<double>::infinity());
// x / (1 + |x|).
Value softsign(const Emitter &e, Value x);
// x tanh(softplus(x)).
Value mish(const Emitter &e, Value x);
// max(0, min(1, alpha x + beta)).
Value hardSigmoid(const Emitter &e, Value x, double alpha = 0.2, double beta = 0.5);
// x hardSigmoid(x, 1/6, 1/2).
Value hardSwish(const Emitter &e, Value x);
// x where it is above alpha, else `below`.
Value thresholdedRelu(const Emitter &e, Value x, double alpha = 1, double below = 0);
// x - bias above lambda, x + bias below -lambda, else 0 (hard: bias 0, soft: bias lambda).
Value shrink(const Emitter &e, Value x, double lambda = 0.5, double bias = 0);
// The first half of dim `dim` times the sigmoid of the second.
Value glu(const Emitter &e, Value x, int64_t dim);

// Trigonometric and hyperbolic functions without an op of their own; area* are the inverses of the
// hyperbolic ones.
Value tangent(const Emitter &e, Value x);
Value arcSine(const Emitter &e, Value x);
Value arcCosine(const Emitter &e, Value x);
// The angle of the point (x, y) in [-π, π].
Value arcTangent2(const Emitter &e, Value y, Value x);
Value hyperbolicSine(const Emitter &e, Value x);
Value hyperbolicCosine(const Emitter &e, Value x);
Value areaSine(const Emitter &e, Value x);
Value areaCosine(const Emitter &e, Value x);
Value areaTangent(const Emitter &e, Value x);

} // namespace cleave::emit
