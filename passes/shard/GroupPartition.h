// GroupPartition: partitions a kernel group. The split of the group's factors determines the split
// of every op inside.
#pragma once

#include "compiler/planner/model/StepModel.h"
#include "passes/shard/BlockOffsets.h"

#include "dialects/graph/Graph.h"

namespace cleave::shard {

// Builds the group, which is `plain` as plain data, on local operands and returns its results. An
// op inside that depends on the begin of its block reads it from an additional scalar operand of
// the group. Asserts that `axes` is a valid split of the group's rule.
llvm::SmallVector<mlir::Value> partitionGroup(mlir::OpBuilder &b, graph::FusionOp fusion,
                                              const planner::Op &plain, mlir::ValueRange operands,
                                              const FactorAxes &axes, const Mesh &mesh,
                                              BlockOffsets &offsets);

} // namespace cleave::shard
