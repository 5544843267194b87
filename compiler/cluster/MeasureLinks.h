// MeasureLinks: latency and bandwidth of collectives through the shared memory of this machine.
#pragma once

#include "compiler/cluster/Cluster.h"

namespace cleave::cluster {

// The only level of a machine with `cores` cores. Threads stand in for ranks: two, `cores`, and
// 2 * `cores` of them. Takes about `seconds`.
Level measureLinks(int64_t cores, double seconds);

} // namespace cleave::cluster
