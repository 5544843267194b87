// NarrowGathers: gathers carry the type that their readers want.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cleave::shard {

// Where all that reads a gathered value is a cast to one narrower type, casts the block of each
// rank instead and gathers the narrow blocks: the same numbers in fewer bytes. To be called on a
// partitioned step.
void narrowGathers(mlir::func::FuncOp step);

} // namespace cleave::shard
