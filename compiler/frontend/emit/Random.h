// Random: tensors of random numbers. The same key yields the same numbers on any number of ranks;
// frontends derive keys from a counter of steps. The training step provides the keys of dropouts.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// Uniform float32 numbers in [low, high). `key` is a scalar int64.
Value uniform(const Emitter &e, const Sizes &dims, Value key, double low = 0, double high = 1);

// Normal float32 numbers; uses `key` and `key` + 1.
Value normal(const Emitter &e, const Sizes &dims, Value key, double mean = 0, double deviation = 1);

// Bool: each element is true with the probability in p.
Value bernoulli(const Emitter &e, Value p, Value key);

// Samples `samples` classes for each row of logits [rows, classes], whose exponentials are
// proportional to the probabilities: int64 [rows, samples].
Value multinomial(const Emitter &e, Value logits, int64_t samples, Value key);

// Elements that are 1 with the probability p, else 0, as p times a dropout of ones: a training step
// draws them; without training all of them are p, which `drawOnes(…) / p` makes 1.
Value drawOnes(const Emitter &e, const Sizes &dims, mlir::Type element, double p);

// Marks a dropout of the part `rate` of x, which the training step fills in; x itself for rate 0.
Value dropout(const Emitter &e, Value x, double rate);

} // namespace cleave::emit
