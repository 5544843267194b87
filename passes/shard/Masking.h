// Masking: replaces padding by the neutral element before a reduction. A dim that is split into
// uneven blocks has padding with undefined content at the end of its last blocks.
#pragma once

#include "dialects/interfaces/FactorRule.h"

#include "mlir/IR/Builders.h"

namespace cleave::shard {

// A dim of an operand that has to be masked.
struct PaddedDim {
  unsigned operand = 0;
  int64_t dim = 0;
  int factor = 0;
  int64_t size = 0; // of the whole dim
  ReduceKind reduce = ReduceKind::Sum;
};

// The dims of `op`'s operands over which it reduces and whose blocks are uneven.
std::vector<PaddedDim> paddedDims(mlir::Operation *op, const FactorRule &rule,
                                  const FactorAxes &axes, const Mesh &mesh);

// `block` with all elements at or beyond `size` along `dim` replaced by the neutral element.
// `offset`: the begin of the block in the whole dim, a scalar i64 tensor.
mlir::Value maskPadding(mlir::OpBuilder &b, mlir::Value block, const PaddedDim &padded,
                        mlir::Value offset);

} // namespace cleave::shard
