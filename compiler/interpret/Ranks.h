// The N-rank interpreter: runs a partitioned step on all ranks of a mesh in one process, op by op,
// in lock step. Slow and simple: the oracle for the partitioner.
#pragma once

#include "compiler/interpret/Interpret.h"
#include "dialects/mesh/Evaluate.h"

namespace cleave::interpret {

// The local results of every rank, [rank][result], on the local arguments `args[rank][i]`. One
// micro-batch: graph.accumulate is the identity. Errors as of run().
Result<mesh::RankTensors> runRanks(mlir::func::FuncOp step, const Mesh &mesh,
                                   const mesh::RankTensors &args);

// The whole results of a partitioned step on whole arguments. Arguments are split and results are
// joined by the attributes mesh.sharding and mesh.global; the padding of arguments is NaN. A user
// error if the step is not partitioned; a defect if ranks that hold copies of the same block differ
// by more than `tolerance`, relative to the tensor's largest element.
Result<std::vector<Tensor>> runPartitioned(mlir::func::FuncOp step, llvm::ArrayRef<Tensor> args,
                                           double tolerance = 1e-4);

} // namespace cleave::interpret
