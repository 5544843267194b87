// Quotient: a number of shape arithmetic, which may depend on symbols: a polynomial over a whole
// number (exporters halve sizes as floating-point numbers).
#pragma once

#include "dialects/graph/Graph.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace cleave::emit {

struct Quotient {
  Polynomial value;
  int64_t divisor = 1; // at least 1

  // Without symbols; as a whole polynomial.
  std::optional<double> number() const;
  std::optional<Polynomial> whole() const;
};

// None where `number` is no small whole number over a small power of two.
std::optional<Quotient> quotientOf(double number);

// Whether the comparison holds for all values that symbols can have (dialects/graph/Symbols.h); none
// where it holds for some only.
std::optional<bool> compare(graph::Predicate predicate, const Quotient &a, const Quotient &b);

// Is told the sizes that must be at least 0 for a result to be right.
using Assume = llvm::function_ref<void(const Polynomial &notNegative)>;

// What a pointwise op makes of one element of each operand; none where that is no quotient. Of a
// number and a size that may be on either side of it, minimum and maximum are the size: numbers like
// the length of a table bound what a model can do, and sizes that it works with are assumed to lie
// within.
std::optional<Quotient> evaluateElement(mlir::Operation *op, llvm::ArrayRef<Quotient> x,
                                        Assume assume);

// Two elements under a reduction.
std::optional<Quotient> combine(graph::Reduction kind, const Quotient &a, const Quotient &b,
                                Assume assume);

} // namespace cleave::emit
