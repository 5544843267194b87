// HideTransfers: puts the instructions of programs with several queues into an order in which
// communication and copies between spaces run beside computation (passes/schedule/Overlap.h).
#pragma once

#include "compiler/cluster/Cluster.h"
#include "compiler/planner/choices/Budget.h"
#include "runtime/base/Status.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <vector>

namespace cleave::driver {

// Reorders the programs of a module whose instructions are in queues and whose buffers have no
// places, and sets their lifetimes. The planner's cost model predicts the seconds, on `cluster` as
// the mesh's ranks see it (cluster::forRanks). Buffers may be live for longer, as far as the budget
// permits, or, with copies between spaces, as long as the peak does not rise; a program whose
// placed buffers do not fit it stays as it was, and so does the evaluation of its ranks.
//
// Returns the bytes by which the peak of each program grows.
Result<std::vector<int64_t>> hideTransfers(mlir::ModuleOp module, const cluster::Cluster &cluster,
                                           const planner::Budget &budget);

} // namespace cleave::driver
