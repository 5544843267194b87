// FactorRule: the einsum-like description of how an op's results depend on its operands. This one
// rule drives sharding strategies, partitioning, propagation and most of the FLOP count. Plain C++:
// no MLIR.
//
//   matmul      "b m k, b k n -> b m n"   k occurs in no result: the results are sums over k
//   reshape     "(i j) -> i j"            a dim that is the product of two factors, major first
//   softmax     "b !c -> b !c"            !c: every rank needs all of c
//   bias        "b c, 1 -> b c"           1: a dim of size one that is broadcast; it has a factor
//                                         of its own
//   loss        "b !v, b ->"              a scalar has no dims
#pragma once

#include "dialects/interfaces/Polynomial.h"
#include "dialects/interfaces/Sharding.h"

#include <string>
#include <vector>

namespace cleave {

// Whether a factor may be split over ranks, and what follows for the results.
enum class FactorKind {
  PassThrough, // may be split: a block of the results needs only that block of the operands
  Reduction,   // may be split: the results are then partial
  Replicated,  // must not be split
};

// One index of the einsum-like notation.
struct Factor {
  Polynomial size; // number of values of the index, on all ranks together
  FactorKind kind = FactorKind::PassThrough;
  ReduceKind reduce = ReduceKind::Sum; // how partial results combine; for kind Reduction only
};

// The rule of one op. A factor is named by its position in `factors`.
struct FactorRule {
  using Dims = std::vector<std::vector<int>>; // per dim its factors, major to minor

  std::vector<Factor> factors; // in order of appearance in the notation
  std::vector<Dims> operands;  // one per operand; empty Dims for a scalar
  std::vector<Dims> results;   // one per result
  // f(x + y) = f(x) + f(y) jointly in all operands, so that partial sums may pass through the op.
  bool linear = false;

  // Builds the rule from the notation above and takes the sizes of factors from the shapes. A
  // factor that occurs in no result is a reduction of kind `reduce`. Where a dim is a product, the
  // sizes of all its factors but one must be known from other dims. An op without operands is
  // written `-> b`. Asserts that the notation fits the shapes: it is part of the compiler, not
  // input.
  static FactorRule parse(const std::string &notation,
                          const std::vector<std::vector<Polynomial>> &operandShapes,
                          const std::vector<std::vector<Polynomial>> &resultShapes,
                          ReduceKind reduce = ReduceKind::Sum);

  // The rule in the notation above, with factors named a, b, c, …: for remarks and tests.
  std::string str() const;
};

// The mesh axes that split each factor of a rule: one list of axis indices per factor, major to
// minor. This is the planner's decision for one op.
using FactorAxes = std::vector<std::vector<int>>;

// The layout of an operand or result when the rule's factors are split like this. A result is
// partial along the axes of every split factor that it lacks, if the factor is a reduction or
// occurs in an operand. A reduction may occur in another result and in no operand: a group that
// gives a broadcast scalar and its column sums.
Sharding operandSharding(const FactorRule &rule, size_t operand, const FactorAxes &axes);
Sharding resultSharding(const FactorRule &rule, size_t result, const FactorAxes &axes);

// Whether the partitioner supports the split:
//  * an axis splits at most one factor, and no Replicated one;
//  * a split factor has at least as many elements as blocks; blocks may differ in size;
//  * a split factor that shares a dim with others is the major one (all before it have size 1),
//    and its blocks are equal unless all factors after it have size 1.
// A size that has symbols counts as large enough.
bool isValidSplit(const FactorRule &rule, const FactorAxes &axes, const Mesh &mesh);

} // namespace cleave
