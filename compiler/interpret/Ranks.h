// The N-rank interpreter: runs a partitioned step on all ranks of a mesh in one process, in lock
// step, op by op. Slow and simple: what partitioning is checked with.
#pragma once

#include "compiler/interpret/Interpret.h"
#include "dialects/mesh/Evaluate.h"

namespace cleave {

// `args[rank][i]`: the local arguments of every rank; likewise the results. One micro-batch:
// graph.accumulate is the identity. Fails as interpret() does.
Result<mesh::RankTensors> interpretRanks(mlir::func::FuncOp step, const Mesh &mesh,
                                         const mesh::RankTensors &args);

// The whole results of a partitioned step on whole arguments, which are cut and joined as its
// attributes mesh.sharding and mesh.global say. Padding is poisoned on the way in. A defect if
// ranks that should hold the same numbers do not (beyond `tolerance`, relative to the tensor's
// largest element).
Result<std::vector<Tensor>>
interpretPartitioned(mlir::func::FuncOp step, llvm::ArrayRef<Tensor> args, double tolerance = 1e-4);

} // namespace cleave
