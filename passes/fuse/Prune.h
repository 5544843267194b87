// Prune: removes unused results from kernel groups. Recomputation leaves results without a reader.
#pragma once

#include "dialects/graph/Graph.h"

namespace cleave::fuse {

// Removes the group's unused results, with the ops and operands that served them alone. Returns the
// group that is left, a new one if there are any; null if no result is used.
graph::FusionOp pruneGroup(graph::FusionOp group);

// Removes unused results from every group of the block, with the ops and operands that served them
// alone; a group without results is erased. Expects a block that is sorted topologically.
void pruneGroups(mlir::Block &block);

// Erases the block's ops without a reader and without an effect.
void eraseDead(mlir::Block &block);

} // namespace cleave::fuse
