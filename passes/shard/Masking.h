// Masking: replaces padding by the neutral element before a reduction
// (compiler/planner/choices/Padding.h).
#pragma once

#include "compiler/planner/choices/Padding.h"

#include "mlir/IR/Builders.h"

namespace cleave::shard {

using planner::PaddedDim;

// planner::paddedDims of an op's operands.
std::vector<PaddedDim> paddedDims(mlir::Operation *op, const FactorRule &rule,
                                  const FactorAxes &axes, const Mesh &mesh);

// `block` with all elements at or beyond `size` along `dim` replaced by the neutral element.
// `offset`: the begin of the block in the whole dim, a scalar i64 tensor.
mlir::Value maskPadding(mlir::OpBuilder &b, mlir::Value block, const PaddedDim &padded,
                        mlir::Value offset);

} // namespace cleave::shard
