// Quotient: a number of shape arithmetic, which may depend on symbols: a polynomial over a whole
// number (exporters halve sizes as floating-point numbers).
#pragma once

#include "dialects/graph/Graph.h"

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

// What a pointwise op makes of one element of each operand; none where that is no quotient.
std::optional<Quotient> evaluateElement(mlir::Operation *op, llvm::ArrayRef<Quotient> x);

// Two elements under a reduction.
std::optional<Quotient> combine(graph::Reduction kind, const Quotient &a, const Quotient &b);

} // namespace cleave::emit
