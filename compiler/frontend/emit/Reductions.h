// Reductions over some dims, which vanish or stay with size 1. No dims: every element by itself.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

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

// `dims` sorted and different, as Emitter::axes gives them.
Value summarise(const Emitter &e, Summary summary, Value x, const Ints &dims, bool keep);

// The variance, its divisor `correction` less than the number of elements (1: unbiased).
Value variance(const Emitter &e, Value x, const Ints &dims, double correction, bool keep);
Value standardDeviation(const Emitter &e, Value x, const Ints &dims, double correction, bool keep);

// (sum |x|^p)^(1/p); infinity: the largest |x|, 0: how many are not zero.
Value norm(const Emitter &e, Value x, double p, const Ints &dims, bool keep);

// The norm of x - y + epsilon over the last dim; both are broadcast together.
Value pairwiseDistance(const Emitter &e, Value x, Value y, double p, double epsilon, bool keep);

} // namespace cleave::emit
