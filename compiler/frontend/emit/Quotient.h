// Quotient: a number in shape arithmetic: a polynomial of symbols divided by an integer (exporters
// halve sizes in floating-point numbers).
#pragma once

#include "dialects/graph/Graph.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace cleave::emit {

// value / divisor.
struct Quotient {
  Polynomial value;    // the numerator
  int64_t divisor = 1; // at least 1

  // The number if no symbol occurs; the polynomial if the divisor is 1.
  std::optional<double> number() const;
  std::optional<Polynomial> whole() const;
};

// None unless `number` is a small integer over a small power of two.
std::optional<Quotient> quotientOf(double number);

// Whether the comparison holds for all values of the symbols (dialects/graph/Symbols.h); none where
// it holds for some only.
std::optional<bool> compare(graph::Predicate predicate, const Quotient &a, const Quotient &b);

// Called with each size that must be at least 0 for a result to be right.
using Assume = llvm::function_ref<void(const Polynomial &notNegative)>;

// The result of a pointwise op for one element of each operand; none where it is not a quotient.
// The minimum and maximum of a number and a size that may be on either side of it are the size:
// such numbers (the length of a table) bound the sizes that a model supports, and sizes are assumed
// to lie within the bounds.
std::optional<Quotient> evaluateElement(mlir::Operation *op, llvm::ArrayRef<Quotient> x,
                                        Assume assume);

// Combines two elements of a reduction; none where the result is not a quotient.
std::optional<Quotient> combine(graph::Reduction kind, const Quotient &a, const Quotient &b,
                                Assume assume);

} // namespace cleave::emit
