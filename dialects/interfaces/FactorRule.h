// FactorRule: the einsum-like description of how an op's results depend on its operands. This one
// rule drives sharding strategies, partitioning, propagation and most of the FLOP count. Plain C++:
// no MLIR.
//
//   matmul      "b m k, b k n -> b m n"   k occurs in no result: a sum over k
//   reshape     "(i j) -> i j"            a dim that is the product of two factors, major first
//   softmax     "b !c -> b !c"            !c: every rank needs all of c
//   bias        "b c, 1 -> b c"           1: a dim of size one that exists only to be broadcast,
//                                         a factor of its own
//   loss        "b !v, b ->"              a scalar has no dims
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

  // The rule in the notation above, sizes taken from the operands' and results' shapes. A factor
  // that stands in no result is a reduction of kind `reduce`. Asserts that the notation fits the
  // shapes; it is written by us, next to the op. Where a dim is a product, the sizes of all its
  // factors but one must be known from other dims. No operands at all are written as nothing: `->
  // b`.
  static FactorRule parse(const std::string &notation,
                          const std::vector<std::vector<Polynomial>> &operandShapes,
                          const std::vector<std::vector<Polynomial>> &resultShapes,
                          ReduceKind reduce = ReduceKind::Sum);

  // Back in the notation, factors named a, b, c, …: for remarks and tests.
  std::string str() const;
};

// Which mesh axes split which factor: one list per factor, major to minor. The decision for one op.
using FactorAxes = std::vector<std::vector<int>>;

// The layout of a value whose dims are made of the rule's factors, when the factors are split like
// this. A result is partial along the axes of every split factor that an operand has and this
// result has not: a reduction, or a factor that only stands in another result.
Sharding operandSharding(const FactorRule &rule, size_t operand, const FactorAxes &axes);
Sharding resultSharding(const FactorRule &rule, size_t result, const FactorAxes &axes);

// Whether the split is one the partitioner can carry out:
//  * an axis splits at most one factor, and no Replicated one;
//  * a factor has at least as many elements as it has blocks; they need not be equal;
//  * but where it shares a dim with others it is the major one (all before it have size 1), and its
//  blocks are
//    equal unless all after it have size 1.
// A size that still has symbols is taken to be large enough.
bool isValidSplit(const FactorRule &rule, const FactorAxes &axes, const Mesh &mesh);

} // namespace cleave
