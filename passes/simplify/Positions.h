// Positions: what an integer tensor says about its own indices. Causal masks come as comparisons of counted tensors, or
// as tables; both are recognised here.
#pragma once

#include "dialects/graph/Graph.h"

namespace cleave::simplify {

// Whether a mask, a truth value for every (…, query, key), is true (with `opposite`: false) exactly where key <= query,
// whatever the other dims are. The mask is `source` after `moves` (reshapes, transposes, broadcasts, slices; the last one
// first), which need not have been built of it.
bool isCausal(mlir::Value source, llvm::ArrayRef<mlir::Operation *> moves, bool opposite = false);

} // namespace cleave::simplify
