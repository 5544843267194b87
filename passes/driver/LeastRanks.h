// LeastRanks: the fewest ranks on which a step fits (--ranks least).
#pragma once

#include "passes/driver/Variants.h"

namespace cleave::driver {

// The plan on the fewest ranks, and what was tried.
struct LeastRanks {
  int64_t ranks = 1;
  PlannedModule planned;
  std::string remark;
};

// Doubles the ranks up to a node, and then the nodes, until a plan fits; numbers of whole nodes (of
// a CPU: of ranks) between the last two are then tried by halves. Takes for granted that a step
// fits on more ranks if it does on fewer, and that none fits where the smallest quick plan needs
// half as much again. Infeasible if the cluster, or 16384 ranks, do not suffice; a user error if
// --mesh fixes the ranks.
Result<LeastRanks> leastRanks(Variants &variants, CompileOptions options);

} // namespace cleave::driver
