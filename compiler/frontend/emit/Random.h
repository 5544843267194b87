// Random: tensors of random numbers. The same key draws the same numbers, on any number of ranks; frontends take keys
// from a counter of steps. Dropouts get theirs from the training step.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// In [low, high), of float32. `key` is a scalar int64.
Value uniform(const Emitter &e, const Shape &dims, Value key, double low = 0, double high = 1);

// Of float32; draws for `key` and for the number behind it.
Value normal(const Emitter &e, const Shape &dims, Value key, double mean = 0, double deviation = 1);

// Bool: true with the probability that each element of p says.
Value bernoulli(const Emitter &e, Value p, Value key);

// Classes drawn `samples` times for each line of logits [lines, classes], whose exponentials are in proportion to the
// probabilities: [lines, samples] of int64.
Value multinomial(const Emitter &e, Value logits, int64_t samples, Value key);

// The place of a dropout of a part `rate` of x; x itself for 0.
Value dropout(const Emitter &e, Value x, double rate);

} // namespace cleave::emit
