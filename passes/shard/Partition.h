// Partition: turns the annotated step on whole tensors into the program of one rank on its blocks;
// all ranks run this same program. Layout changes become collectives, made once for all readers
// within one part (forward, backward, update) of the step.
#pragma once

#include "compiler/cluster/Cluster.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Support/LLVM.h"

namespace cleave::shard {

// Replaces the step by its partitioned form. Arguments and results get local types and keep their
// attributes; they say mesh.sharding and mesh.global (the logical tensor type). Fails with a
// diagnostic where attributes do not fit. `cluster` as the mesh's ranks see it decides between ways
// to change a layout.
mlir::LogicalResult partition(mlir::func::FuncOp step, const cluster::Cluster &cluster);

} // namespace cleave::shard
