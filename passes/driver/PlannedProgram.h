// PlannedProgram: from a step with the planner's decisions to the program of one rank.
#pragma once

#include "compiler/cluster/Cluster.h"
#include "compiler/planner/search/Fit.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

namespace cleave::driver {

// Canonicalizes and eliminates common subexpressions.
void tidy(mlir::ModuleOp module);

// Partitions the annotated step of the module and brings its ops into the form and the order in
// which they run. `cluster` is the view of the mesh's ranks (cluster::forRanks). Fails with a
// diagnostic where shard::partition() does.
mlir::LogicalResult partitionStep(mlir::ModuleOp module, const cluster::Cluster &cluster);

// The memory of the program that these decisions on the module's step, which is `model`, lead to.
// It is read from that program, which is lowered in a copy of the module. With a limited `budget`,
// the arena is the first that is found within it, and no small one is searched for a program that
// exceeds it anyway. A defect if the program cannot be lowered.
Result<planner::ProgramMemory> memoryOf(mlir::ModuleOp module, const planner::StepModel &model,
                                        const planner::Decisions &decisions,
                                        const cluster::Cluster &cluster,
                                        const planner::Budget &budget);

} // namespace cleave::driver
