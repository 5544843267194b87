// Masking: where a dim is cut into uneven blocks, the last ones end in padding with undefined
// content. Before an op adds up (or takes the maximum) over such a dim, the padding is replaced by
// what does not change the result.
#pragma once

#include "dialects/interfaces/FactorRule.h"

#include "mlir/IR/Builders.h"

namespace cleave::shard {

// One dim of an operand that needs it.
struct PaddedDim {
  unsigned operand = 0;
  int64_t dim = 0;
  int factor = 0;
  int64_t size = 0; // of the whole dim
  ReduceKind reduce = ReduceKind::Sum;
};

// The dims of `op`'s operands over which it reduces while their blocks are uneven.
std::vector<PaddedDim> paddedDims(mlir::Operation *op, const FactorRule &rule,
                                  const FactorAxes &axes, const Mesh &mesh);

// `block` with everything at or past `size` along `dim` replaced by the neutral element; `offset`
// is where the block begins.
mlir::Value maskPadding(mlir::OpBuilder &b, mlir::Value block, const PaddedDim &padded,
                        mlir::Value offset);

} // namespace cleave::shard
