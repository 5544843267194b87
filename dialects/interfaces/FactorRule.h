// FactorRule: the einsum-like description of how an op's results depend on its operands. This one rule
// drives sharding strategies, partitioning, propagation and most of the FLOP count. Plain C++: no MLIR.
//
//   matmul      "b m k, b k n -> b m n"        k occurs in no result: a sum over k
//   reshape     "(i j) -> i j"                 a dim that is the product of two factors, major first
//   softmax     "b !c -> b !c"                 !c: every rank needs all of c
//
// Size-one dims that exist only to be broadcast are factors of their own, of size 1.
#pragma once

#include "dialects/interfaces/Polynomial.h"
#include "dialects/interfaces/Sharding.h"

#include <string>
#include <vector>

namespace cleave {

enum class FactorKind {
  PassThrough, // may be split: every block of the result needs only that block of the operands
  Reduction,   // may be split: the results are then partial
  Replicated,  // must not be split
};

struct Factor {
  Polynomial size;
  FactorKind kind = FactorKind::PassThrough;
  ReduceKind reduce = ReduceKind::Sum; // of a Reduction
};

struct FactorRule {
  using Dims = std::vector<std::vector<int>>; // per dim its factors, major to minor

  std::vector<Factor> factors;
  std::vector<Dims> operands; // empty Dims for a scalar
  std::vector<Dims> results;
  // f(x + y) = f(x) + f(y) jointly in all operands: partial sums may pass through.
  bool linear = false;

  // The rule in the notation above, sizes taken from the operands' and results' shapes. A factor that
  // stands in no result is a reduction of kind `reduce`. Asserts that the notation fits the shapes; it is
  // written by us, next to the op. Where a dim is a product, the factors' sizes must be known from
  // another dim that is not one.
  static FactorRule parse(const std::string &notation,
                          const std::vector<std::vector<Polynomial>> &operandShapes,
                          const std::vector<std::vector<Polynomial>> &resultShapes,
                          ReduceKind reduce = ReduceKind::Sum);

  // Back in the notation, factors named a, b, c, …: for remarks and tests.
  std::string str() const;
};

// Which mesh axes split which factor: one list per factor, major to minor. The decision for one op.
using FactorAxes = std::vector<std::vector<int>>;

// The layout of a value whose dims are made of the rule's factors, when the factors are split like this.
// For a result pass the rule, so that split reductions become partial.
Sharding operandSharding(const FactorRule &rule, size_t operand, const FactorAxes &axes);
Sharding resultSharding(const FactorRule &rule, size_t result, const FactorAxes &axes);

// Whether the split is one the partitioner can carry out: only splittable factors; a factor that shares a dim
// with others divides evenly, and all factors minor to a split one in that dim … are whole.
bool isValidSplit(const FactorRule &rule, const FactorAxes &axes, const Mesh &mesh);

} // namespace cleave
