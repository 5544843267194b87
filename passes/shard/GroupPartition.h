// GroupPartition: a kernel group for one rank: every op inside is cut as the split of the group's
// factors demands.
#pragma once

#include "passes/shard/BlockOffsets.h"

#include "dialects/graph/Graph.h"

namespace cleave::shard {

// The group on local operands. Where an op inside needs to know where its block begins, that enters
// the group as one more scalar operand. Asserts that the group's rule can be split by `axes`.
llvm::SmallVector<mlir::Value> partitionGroup(mlir::OpBuilder &b, graph::FusionOp fusion,
                                              mlir::ValueRange operands, const FactorAxes &axes,
                                              const Mesh &mesh, BlockOffsets &offsets);

} // namespace cleave::shard
