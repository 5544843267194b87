// Padding: the operands of which a rank's block has to be masked. A dim that is split into uneven
// blocks has padding with undefined content at the end of its last blocks; where an op reduces over
// the dim, the padding is replaced by the neutral element first. Partitioning emits the masks
// (passes/shard/Masking.h), and the planner prices them.
#pragma once

#include "dialects/interfaces/FactorRule.h"
#include "dialects/interfaces/Tensor.h"

namespace cleave::planner {

// A dim of an operand that has to be masked.
struct PaddedDim {
  unsigned operand = 0;
  int64_t dim = 0;
  int factor = 0;
  int64_t size = 0; // of the whole dim
  ReduceKind reduce = ReduceKind::Sum;
};

// The dims of operands over which an op reduces and whose blocks are uneven. `operands`: the types
// of their elements; `result`: that of the first result. Integers that the op does not combine are
// positions, of which padding chooses what is neutral already.
std::vector<PaddedDim> paddedDims(const FactorRule &rule, const FactorAxes &axes, const Mesh &mesh,
                                  const std::vector<ElementType> &operands, ElementType result);

} // namespace cleave::planner
