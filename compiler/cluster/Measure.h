// Measure: speed of this machine's CPU, as a cluster of one node.
#pragma once

#include "compiler/cluster/Cluster.h"

namespace cleave::cluster {

// Measures for about `seconds`: matrix products of several sizes (oneDNN, one thread), sums of
// arrays, polynomials, and collectives between threads. Status::lost if a collective fails.
Result<Cluster> measureLocalCpu(double seconds = 0.7);

} // namespace cleave::cluster
