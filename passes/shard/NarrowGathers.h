// NarrowGathers: gathers transfer the type that their readers use.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cleave::shard {

// If all readers of a gathered value cast it to the same narrower type, each rank casts its block
// first, and the narrow blocks are gathered: the numbers are the same, in fewer bytes. The step is
// partitioned.
void narrowGathers(mlir::func::FuncOp step);

} // namespace cleave::shard
