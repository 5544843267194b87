// Reductions over some dims, which are removed or, with `keep`, stay with size 1. An empty list of
// dims reduces nothing: each element is its own result.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// What a reduction computes.
enum class Summary {
  Sum,
  Mean,
  Max,
  Min,
  Prod,
  L1,        // sum |x|
  L2,        // sqrt(sum x^2)
  SumSquare, // sum x^2
  LogSum,    // log(sum x)
  LogSumExp, // log(sum exp(x)), without overflow
  Any,       // of bool
  All,       // of bool
};

// Reduces the dims `dims`, sorted and without duplicates (Emitter::axes).
Value summarise(const Emitter &e, Summary summary, Value x, const Ints &dims, bool keep);

// Variance with the divisor n - `correction` for n elements (1: unbiased); its square root.
Value variance(const Emitter &e, Value x, const Ints &dims, double correction, bool keep);
Value standardDeviation(const Emitter &e, Value x, const Ints &dims, double correction, bool keep);

// (sum |x|^p)^(1/p); p = infinity: the largest |x|; p = 0: the number of elements that are not 0.
Value norm(const Emitter &e, Value x, double p, const Ints &dims, bool keep);

// The p-norm of x - y + epsilon over the last dim; x and y are broadcast together.
Value pairwiseDistance(const Emitter &e, Value x, Value y, double p, double epsilon, bool keep);

} // namespace cleave::emit
