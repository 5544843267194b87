// Activation: functions of one float tensor, element by element, and their relatives.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

Value relu(const Emitter &e, Value x);
// min(max(x, low), high).
Value hardTanh(const Emitter &e, Value x, double low = -1, double high = 1);
// No less than `low` and no more than `high`, as far as given. The slope is 0 at the bounds, too.
Value clamped(const Emitter &e, Value x, std::optional<double> low, std::optional<double> high);
inline Value relu6(const Emitter &e, Value x) { return hardTanh(e, x, 0, 6); }
Value sigmoid(const Emitter &e, Value x);
// log(sigmoid(x)), without overflow.
Value logSigmoid(const Emitter &e, Value x);
// x sigmoid(alpha x): silu (swish) for 1, the quick GELU for 1.702.
Value silu(const Emitter &e, Value x, double alpha = 1);
// x times the normal distribution function, by erf or by tanh.
Value gelu(const Emitter &e, Value x, bool byTanh = false);
// slope x below zero; `slope` of the same type: a number per channel or any shape that broadcasts.
Value leakyRelu(const Emitter &e, Value x, double slope = 0.01);
Value prelu(const Emitter &e, Value x, Value slope);
// Below zero alpha (exp(x / beta) - 1), above scale x.
Value elu(const Emitter &e, Value x, double alpha = 1);
Value celu(const Emitter &e, Value x, double alpha = 1);
// gamma elu(x, alpha).
Value selu(const Emitter &e, Value x, double alpha, double gamma);
// log(1 + exp(beta x)) / beta without overflow, and x itself where beta x exceeds `threshold`.
Value softplus(const Emitter &e, Value x, double beta = 1,
               double threshold = std::numeric_limits<double>::infinity());
Value softsign(const Emitter &e, Value x);
Value mish(const Emitter &e, Value x);
// max(0, min(1, alpha x + beta)).
Value hardSigmoid(const Emitter &e, Value x, double alpha = 0.2, double beta = 0.5);
Value hardSwish(const Emitter &e, Value x);
// x where it is above alpha, else `below`.
Value thresholdedRelu(const Emitter &e, Value x, double alpha = 1, double below = 0);
// x - bias above lambda, x + bias below -lambda, else 0 (hard: bias 0, soft: bias lambda).
Value shrink(const Emitter &e, Value x, double lambda = 0.5, double bias = 0);
// The first half of dim `dim` times the sigmoid of the second.
Value glu(const Emitter &e, Value x, int64_t dim);

// Trigonometry and hyperbolic functions that are no op of their own.
Value tangent(const Emitter &e, Value x);
Value arcSine(const Emitter &e, Value x);
Value arcCosine(const Emitter &e, Value x);
// The angle of the point (x, y), from -π to π.
Value arcTangent2(const Emitter &e, Value y, Value x);
Value hyperbolicSine(const Emitter &e, Value x);
Value hyperbolicCosine(const Emitter &e, Value x);
Value areaSine(const Emitter &e, Value x);
Value areaCosine(const Emitter &e, Value x);
Value areaTangent(const Emitter &e, Value x);

} // namespace cleave::emit
