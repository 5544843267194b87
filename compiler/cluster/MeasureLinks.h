// MeasureLinks: what collectives between ranks on this machine take, which go through shared memory.
#pragma once

#include "compiler/cluster/Cluster.h"

namespace cleave::cluster {

// The one level of a machine with so many cores. Threads stand in for ranks: two of them, as many as there
// are cores, and twice as many. Takes about `seconds`.
Level measureLinks(int64_t cores, double seconds);

} // namespace cleave::cluster
