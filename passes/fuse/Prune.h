// Kernel groups without what nobody needs: after recomputation some values are read by nobody any more.
#pragma once

#include "dialects/graph/Graph.h"

namespace cleave::fuse {

// Removes from every group of the block the results that nobody reads, the ops inside that lead to no result, and the
// operands that no op inside reads; groups without results vanish. The block is sorted topologically.
void pruneGroups(mlir::Block &block);

} // namespace cleave::fuse
