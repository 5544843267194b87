// Measure: what this machine's CPU can do, as a cluster of one node.
#pragma once

#include "compiler/cluster/Cluster.h"

namespace cleave::cluster {

// Runs for about `seconds`: matrix products at several sizes (oneDNN, one thread), sums of arrays, and
// collectives between threads that share memory.
Cluster measureLocalCpu(double seconds = 0.7);

} // namespace cleave::cluster
