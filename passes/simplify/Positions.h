// Positions: recognises causal masks, which exporters write as comparisons of positions or as
// constant tables.
#pragma once

#include "dialects/graph/Graph.h"

namespace cleave::simplify {

// Whether a mask, a boolean tensor of shape (…, query, key), is true exactly where key <= query for
// all indices of the other dims; with `opposite`, whether it is false there. The mask is `source`
// after `moves` (reshapes, transposes, broadcasts and slices, the last one first), which need not
// be ops on `source`.
bool isCausal(mlir::Value source, llvm::ArrayRef<mlir::Operation *> moves, bool opposite = false);

} // namespace cleave::simplify
