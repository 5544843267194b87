// Fuse: forms kernel groups (graph.fusion) of the primitive ops of the step, by the rules in
// Groups.h.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cleave::fuse {

// Puts every pointwise op and reduction of the step into a kernel group, and every broadcast and
// iota that an op outside of groups reads. A group that exists already stays, without the results
// that no op reads, unless it breaks the rules: then it is dissolved and its ops are grouped anew.
// Sorts the step's ops topologically; ops that are in order keep it.
void formGroups(mlir::func::FuncOp step);

// Clones the iotas inside groups, so that each has one reader as formGroups() leaves them. Call it
// after CSE, which merges equal iotas.
void separateIotasInGroups(mlir::func::FuncOp step);

// Registers --cleave-fuse-groups.
void registerFusePasses();

} // namespace cleave::fuse
