// The fusion pass: forms kernel groups (graph.fusion) from the primitive ops of the step. By which
// rules is in Groups.h.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace cleave::fuse {

// Puts every pointwise op and reduction of the step into a kernel group, and broadcasts and iotas
// that others read. Groups that are there already stay as they are. Also sorts the step's ops
// topologically.
void formGroups(mlir::func::FuncOp step);

// Cleaning up merges equal ops inside a group too; where that gave one iota two readers, each gets its
// own again.
void separateIotasInGroups(mlir::func::FuncOp step);

// --cleave-fuse-groups
std::unique_ptr<mlir::Pass> createFormGroupsPass();
void registerFusePasses();

} // namespace cleave::fuse
