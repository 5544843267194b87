// Partition: turns the annotated step on whole tensors into the step of one rank on its blocks,
// which all ranks run. Layout changes become collectives, each built once for all readers within
// one part (forward, backward, update) of the step.
#pragma once

#include "compiler/cluster/Cluster.h"
#include "compiler/planner/choices/Decisions.h"
#include "compiler/planner/model/StepModel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Support/LLVM.h"

namespace cleave::shard {

// Replaces the step by its partitioned form. Arguments and results get local types, keep their
// attributes and have mesh.sharding and mesh.global (the type of the whole tensor). Fails with a
// diagnostic at an annotation that contradicts the mesh or the op's rule. `cluster`, as the mesh's
// ranks see it (cluster::forRanks), decides between ways to change a layout.
mlir::LogicalResult partition(mlir::func::FuncOp step, const cluster::Cluster &cluster);

// The same for a step that is known already: `model` is the step, without annotations, and
// `decisions` are what these would state.
void partition(mlir::func::FuncOp step, const planner::StepModel &model,
               const planner::Decisions &decisions, const cluster::Cluster &cluster);

// Registers --cleave-shard-partition.
void registerPartitionPass();

} // namespace cleave::shard
